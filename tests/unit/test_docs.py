"""What the pages say is true: links lead somewhere, commands can be typed, paths exist, snippets parse and import what exists.

Every check is a function from a page to a list of complaints, so that the tests at the end can show that each of them complains.
"""

import ast
import doctest
import importlib
import importlib.util
import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

import epic.__main__ as command_line
from epic.core.files import InputError
from epic.experiment.check import PUBLISHED, SCHEMA, load_experiment, load_experiments, read_published
from epic.experiment.yaml_lines import read_yaml
from tests.conftest import ROOT
from tests.unit.test_layers import RANKS
from tests.unit.test_reruns import EDITS, HEAVY

PAGES = (
    "mini", "paper-run", "offline", "cluster", "model", "python", "vector-store", "performance", "judging", "own-collection", "recovery",
    "deviations", "developing",
)  # fmt: skip
FILES = ["README.md", "CHANGELOG.md", "results/README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
MAKEFILE = (ROOT / "Makefile").read_text()
RULES = "\n".join(path.read_text() for path in [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))])
TREE = ("epic", "workflow", "tests", "docs", "profiles")  # what a path in backticks begins with
MINE = "mine"  # the experiment that a reader writes
KINDS = {"row": "rows", "model": "models", "first_stage": "first_stages", "query_set": "query_sets"}
OTHER = {"mkdir", "cp", "sed", "gzip", ".", "md5sum"}  # commands of any system; what they read of this repository is looked at


class Page(NamedTuple):
    """A page: its path below the repository, and its text."""

    name: str
    text: str

    @property
    def prose(self) -> str:
        """The text without its blocks of code; as many lines as before."""
        return re.sub(r"(?ms)^ *```.*?^ *```$", lambda block: "\n" * block.group().count("\n"), self.text)

    def blocks(self, language: str) -> list[str]:
        """The blocks of code in a language."""
        return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", self.text)


def page(name: str) -> Page:
    return Page(name, (ROOT / name).read_text(encoding="utf-8"))


@cache
def experiments() -> dict:
    return load_experiments([ROOT / "workflow" / "experiments"])


# Links --------------------------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.*)$", Page("", text).prose)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(found: Page) -> list[str]:
    complaints = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", found.prose)):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / found.name).parent / path if path else ROOT / found.name
        if not file.exists() or ROOT not in file.resolve().parents:
            complaints.append(f"{found.name}: no file {target}")
        elif anchor and anchor not in anchors(found.text if not path else file.read_text(encoding="utf-8")):
            complaints.append(f"{found.name}: no heading {target}")
    return complaints


# Commands -----------------------------------------------------------------------------------------------------------------


def commands(block: str) -> list[list[str]]:
    """The simple commands of a block of shell, as words; a quoted text may go over several lines."""
    found, lines = [], ""
    for line in block.splitlines():
        lines += line + "\n"
        try:
            shlex.split(lines, comments=True)
        except ValueError:  # a quotation goes on
            continue
        lexer = shlex.shlex(lines, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words, lines = list(lexer), ""
        while words:
            end = next((place for place, word in enumerate(words) if word in ("&&", "||", "|", ";")), len(words))
            found.append(words[:end])
            words = words[end + 1 :]
    assert not lines, f"unfinished: {lines}"
    return [words for words in found if words]


def wrong_commands(found: Page) -> list[str]:
    complaints = []
    for block in found.blocks("sh"):
        if (parsed := subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True)).returncode:
            complaints.append(f"{found.name}: {parsed.stderr}")
            continue
        for words in commands(block):
            complaints += [f"{found.name}: {shlex.join(words)}: {complaint}" for complaint in complain(words, found)]
    for target in re.findall(r"`(?:[A-Z]+=\S+ )*make ([a-z][a-z.-]*)", found.prose):
        complaints += [f"{found.name}: {complaint}" for complaint in wrong_make([target])]
    for line in re.findall(r"`((?:snakemake|epic) [^`]*)`", found.prose):
        words = shlex.split(line)
        words += ["--help"] if words[0] == "epic" and len(words) == 2 else []  # a command by its name alone
        complaints += [f"{found.name}: {line}: {complaint}" for complaint in complain(words, found)]
    return complaints


def complain(words: list[str], found: Page) -> list[str]:
    """What is wrong with one command of a page."""
    settings = [words.pop(0) for _ in list(words) if re.match(r"[A-Z_]+=", words[0])]
    names = {setting.partition("=")[0] for setting in settings}
    complaints = [f"nothing reads {name}" for name in names if name.startswith("EPIC_") and not mentioned(name)]
    program, *arguments = words
    if program == "make":
        return complaints + wrong_make([*settings, *arguments], names)
    if program == "snakemake":
        return complaints + wrong_snakemake(arguments, found)
    if program == "epic" or words[:3] == ["python", "-m", "epic"]:
        return complaints + wrong_epic(arguments if program == "epic" else arguments[2:])
    if words[:2] == ["python", "-m"]:
        return complaints + ([] if importlib.util.find_spec(words[2]) else [f"no module {words[2]}"])
    if words[:2] == ["python", "-c"]:
        ast.parse(words[2])
        return complaints
    if program not in OTHER:
        return [*complaints, f"this test knows no command {program}"]
    read = [word for word in arguments if word.split("/")[0] in TREE]
    return complaints + [f"no file {word}" for word in read if not list(ROOT.glob(word))]


def mentioned(name: str) -> bool:
    """Whether the package or the workflow reads a variable of the environment."""
    return name in RULES or any(name in path.read_text() for path in (ROOT / "epic").glob("**/*.py"))


def wrong_make(arguments: list[str], environment=frozenset()) -> list[str]:
    targets = set(re.findall(r"^([a-z][a-z.-]*)(?: [a-z -]+)?:", MAKEFILE, re.MULTILINE))
    complaints = []
    for word in arguments:
        name, given, value = word.partition("=")
        if given and not name.startswith("PIP_") and not re.search(rf"\$\((?:or \$\()?{name}\)|\bor \$\({name}\)", MAKEFILE):
            complaints.append(f"the Makefile has no {name}")
        elif given and name in ("TARGET", "LOCAL") and value.startswith("results/") and value.count("/") > 1:
            complaints += wrong_target(value, experiments())
        elif not given and word not in targets:
            complaints.append(f"the Makefile has no target {word}")
    return complaints


@cache
def snakemake_parser():
    from snakemake.cli import get_argument_parser

    return get_argument_parser()


def wrong_snakemake(arguments: list[str], found: Page) -> list[str]:
    try:
        options = snakemake_parser().parse_args(arguments)
    except (SystemExit, ValueError) as error:
        return [f"Snakemake refuses it ({error!r})"]
    rules = set(re.findall(r"(?m)^rule (\w+):", RULES))
    complaints = [f"no rule {name}" for name in (*(options.until or ()), *(options.forcerun or ())) if name not in rules]
    profiles = [name for name in options.profile or () if not (ROOT / name / "config.yaml").exists()]
    complaints += [f"no profile {name}" for name in profiles]
    known = experiments()
    complaints += [f"no experiment {name} to scatter" for name in options.set_scatter or () if name not in known]
    if any(target.startswith(f"results/{MINE}/") for target in options.targets):
        if f"experiments/{MINE}.yaml" not in found.text:
            return [*complaints, f"{MINE} is an experiment of the reader's, and the page does not say so"]
        known = known | {MINE: known["smoke"]}
    for target in options.targets:
        own = [{MINE: settings} for settings in expansions(found)] if target.startswith(f"results/{MINE}/") else []
        wrong = [wrong_target(target, some) for some in (known, *own)] if target not in rules else [[]]
        complaints += [] if [] in wrong else wrong[0]
    return complaints


def wrong_target(target: str, known: dict) -> list[str]:
    """Why no rule makes a file of results, or why what its path names does not exist."""
    for pattern in re.findall(r'"(results/\{experiment\}/[^"]*)"', RULES):
        expression = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(pattern))
        if match := re.fullmatch(expression, target.rstrip("/")):
            names = match.groupdict()
            if names["experiment"] not in known:
                return [f"no experiment {names['experiment']}; there are {', '.join(known)}"]
            settings = known[names["experiment"]]
            there = {kind: {item["id"] for item in settings[key]} for kind, key in KINDS.items()}
            there["keep"] = {str(row.get("keep")) for row in settings["rows"]}
            return [f"no {kind} {name}" for kind, name in names.items() if name not in there.get(kind, {name})]
    return [f"no rule makes {target}"]


def wrong_epic(arguments: list[str]) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in vars(command_line) if name.startswith("_run_")]:
            patch.setattr(command_line, name, lambda options: None)  # parsed, not run
        try:
            command_line.main(arguments)
        except SystemExit as ended:
            return ["epic refuses it"] if ended.code else []
    return [complaint for word in arguments if word.startswith("results/") for complaint in wrong_target(word, experiments())]


# Paths, snippets ----------------------------------------------------------------------------------------------------------


def absent_paths(found: Page) -> list[str]:
    """Paths of this repository in backticks that do not exist; and names in brackets behind them that the file does not have."""
    complaints = []
    pattern = rf"`((?:{'|'.join(TREE)})/[\w./-]*)`(?: \(((?:`[^`]+`(?:, )?)+))?"
    for path, names in re.findall(pattern, found.prose):
        if not (ROOT / path).exists():
            complaints.append(f"{found.name}: no {path}")
            continue
        for name in re.findall(r"`([^`]+)`", names):
            if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", (ROOT / path).read_text()):
                complaints.append(f"{found.name}: {path} has no {name}")
    return complaints


def wrong_python(found: Page) -> list[str]:
    complaints = []
    for block in found.blocks("python"):
        examples = doctest.DocTestParser().get_examples(block)
        source = "".join(example.source for example in examples) or block
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                complaints += [f"no module {alias.name}" for alias in node.names if not importlib.util.find_spec(alias.name)]
            elif isinstance(node, ast.ImportFrom):
                module = importlib.import_module(node.module)
                absent = [alias.name for alias in node.names if not hasattr(module, alias.name)]
                complaints += [f"{node.module} has no {name}" for name in absent]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("model", "Epic"):
                import epic

                complaints += [] if hasattr(epic.Epic, node.attr) else [f"Epic has no {node.attr}"]
    return [f"{found.name}: {complaint}" for complaint in complaints]


@cache
def expansions(found: Page) -> list[dict]:
    """Experiments that a page's blocks of YAML make of `smoke`, each with its own keys instead of smoke's."""
    schema, published, settings = read_yaml(SCHEMA).value, read_published(PUBLISHED), []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for block in found.blocks("python"):  # a module that the page shows, with its path in the first line
            if named := re.match(r"# (\S+\.py)\n", block):
                path = Path(folder, named.group(1))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block)
        for block in found.blocks("yaml"):
            smoke = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
            path = Path(folder, f"{MINE}.yaml")
            path.write_text(yaml.safe_dump(smoke | yaml.safe_load(block)))
            settings.append(load_experiment(path, schema, published))
            for name in [name for name in sys.modules if name.startswith("my_")]:
                del sys.modules[name]
    return settings


def wrong_yaml(found: Page) -> list[str]:
    try:
        expansions(found)
    except InputError as error:
        return [f"{found.name}: {error}"]
    return []


CHECKS = (broken_links, wrong_commands, absent_paths, wrong_python, wrong_yaml)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_what_a_page_says_is_true(check, name):
    assert check(page(name)) == []


# What the pages are -------------------------------------------------------------------------------------------------------


def test_the_readme_is_two_screens_and_shows_its_pictures():
    readme = page("README.md")
    assert len(readme.text.splitlines()) <= 150
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", readme.text)
    assert sum(path.startswith("docs/") and path.endswith(".png") for path in shown) == 2
    assert all((ROOT / path).stat().st_size < 200_000 for path in shown)
    assert "never comparable with the paper's" in " ".join(readme.text.split())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_linked_from_the_readme_and_begins_with_what_one_can_do_after_it(name):
    title, empty, first = page(f"docs/{name}.md").text.splitlines()[:3]
    assert title.startswith("# ") and not empty and first.startswith("After this page you can ")
    assert f"](docs/{name}.md)" in page("README.md").text


def test_there_is_no_other_page():
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} == set(PAGES)


def test_the_table_of_what_to_touch_has_all_subjects_and_names_files():
    section = page("docs/developing.md").text.split("## I want to change X: touch these files")[1].split("\n## ")[0]
    rows = re.findall(r"(?m)^\| (.*?) \| (.*?) \|", section)[1:]
    subjects = {re.sub("^(an?|the) ", "", subject) for subject, _ in rows}
    assert subjects >= {"loss", "metric", "claim", "figure", "first stage", "ranker", "store format", "query set"}
    for subject, files in rows:
        assert re.search(rf"`(?:{'|'.join(TREE)})/", files), subject  # that they exist is tested above


def test_the_ranks_of_packages_are_those_that_are_tested():
    rows = re.findall(r"(?m)^\| (\d) \| (`epic/.*) \|$", page("docs/developing.md").text)
    said = {package: int(rank) for rank, packages in rows for package in re.findall(r"`epic/(\w+)/`", packages)}
    assert said == RANKS


def test_what_an_edit_reruns_is_what_the_test_of_reruns_says():
    section = page("docs/recovery.md").text.split("## After an edit")[1]
    rows = re.findall(r"(?m)^\| (`epic/.*?) \| (.*?) \|$", section)
    assert len(rows) > 8
    known = {}
    for module, _, _, rerun in EDITS:
        known.setdefault(f"epic/{module}", set()).update(rerun)
    for files, stages in rows:
        said = set() if stages == "none" else set(stages.split(", "))
        assert said <= set(HEAVY)
        assert all(known[file] == said for file in re.findall(r"`([^`]+)`", files)), files


# Every check can fail -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "text", "complaint"),
    [
        (broken_links, "[a](docs/nowhere.md)", "no file docs/nowhere.md"),
        (broken_links, "[a](docs/model.md#no-such)", "no heading docs/model.md#no-such"),
        (broken_links, "# Here\n\n[a](#there)", "no heading #there"),
        (broken_links, "[a](/etc/passwd)", "no file /etc/passwd"),
        (wrong_commands, "```sh\nmake smokes\n```", "no target smokes"),
        (wrong_commands, "Say `make benchs` now.", "no target benchs"),
        (wrong_commands, "```sh\nBENK=small make bench\n```", "no BENK"),
        (wrong_commands, "```sh\nmake plan TARGET=results/paper/rows/bm26.md\n```", "no row bm26"),
        (wrong_commands, "```sh\nEPIC_PLANN=1 snakemake -n\n```", "nothing reads EPIC_PLANN"),
        (wrong_commands, "```sh\nsnakemake results/smoke/rows/epic-bm25-r999.md\n```", "no row epic-bm25-r999"),
        (wrong_commands, "```sh\nsnakemake results/smok/table.md  # x\n```", "no experiment smok"),
        (wrong_commands, "```sh\nsnakemake results/smoke/tabel.md\n```", "no rule makes"),
        (wrong_commands, "```sh\nsnakemake results/mine/table.md\n```", "does not say so"),
        (wrong_commands, "experiments/mine.yaml\n```sh\nsnakemake results/mine/rows/x.md\n```", "no row x"),
        (wrong_commands, "```sh\nsnakemake smoke --core 2 --no-such\n```", "refuses"),
        (wrong_commands, "```sh\nsnakemake --cores 1 --until dada\n```", "no rule dada"),
        (wrong_commands, "```sh\nsnakemake --profile profiles/slurn\n```", "no profile"),
        (wrong_commands, "```sh\nsnakemake --set-scatter papier=3\n```", "no experiment papier"),
        (wrong_commands, "Say `snakemake smoke --rapport x`.", "refuses"),
        (wrong_commands, "```sh\nepic verfy x\n```", "epic refuses it"),
        (wrong_commands, "Say `epic mendd`.", "epic refuses it"),
        (wrong_commands, "```sh\nepic import-vectors a b --checkpont c\n```", "epic refuses it"),
        (wrong_commands, "```sh\nepic verify results/smoke/prune/paper/999\n```", "no keep 999"),
        (wrong_commands, "```sh\npython -m tests.bench.growht x\n```", "no module"),
        (wrong_commands, "```sh\ncp workflow/resources/tiny/nothing my/\n```", "no file workflow"),
        (wrong_commands, "```sh\nmake setup && rn -rf x\n```", "knows no command rn"),
        (wrong_commands, "```sh\nmake 'smoke\n```", "unexpected EOF"),
        (absent_paths, "See `epic/nothing.py`.", "no epic/nothing.py"),
        (absent_paths, "See `epic/training/loss.py` (`LOSSES`, `LOSSEN`).", "has no LOSSEN"),
        (wrong_python, "```python\nfrom epic.core.files import nothing\n```", "has no nothing"),
        (wrong_python, "```python\nimport no_such_module\n```", "no module no_such_module"),
        (wrong_python, "```python\n>>> model.encode_querry('x')\n{}\n```", "no encode_querry"),
        (wrong_yaml, "```yaml\nrows:\n  - {id: bm25, kind: first-stage}\n```", "mine.yaml line"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(check, text, complaint):
    assert any(complaint in found for found in check(Page("README.md", text + "\n"))), check(Page("README.md", text + "\n"))
