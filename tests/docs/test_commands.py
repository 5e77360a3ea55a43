"""Commands on the pages can be typed: make, Snakemake and epic know their words, and what a target names exists."""

import ast
import importlib.util
import re
import shlex
import subprocess
from functools import cache

import pytest

import epic.__main__ as command_line
from tests.conftest import ROOT
from tests.docs.pages import FILES, MINE, TREE, Page, expansions, experiments, page

MAKEFILE = (ROOT / "Makefile").read_text()
RULES = "\n".join(path.read_text() for path in [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))])
KINDS = {"row": "rows", "model": "models", "first_stage": "first_stages", "query_set": "query_sets"}
# Commands that this repository does not define; what they read of it is looked at.
OTHER = {"mkdir", "cp", "sed", "gzip", ".", "md5sum", "conda", "pip", "docker"}


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
        if (
            given
            and not name.startswith("PIP_")
            and not re.search(rf"\$\((?:or \$\()?{name}\)|\bor \$\({name}\)|(?m:^export {name}\b)", MAKEFILE)
        ):
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
    if match := re.fullmatch(r"results/([^/]+)", target):  # all of an experiment
        return [] if match[1] in known else [f"no experiment {match[1]}; there are {', '.join(known)}"]
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


@pytest.mark.parametrize("name", FILES)
def test_what_a_page_says_is_true(name):
    assert wrong_commands(page(name)) == []


@pytest.mark.parametrize(
    ("check", "text", "complaint"),
    [
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
        (wrong_commands, "Say `epic show results/smoky`.", "no experiment smoky"),
        (wrong_commands, "```sh\nepic import-vectors a b --checkpont c\n```", "epic refuses it"),
        (wrong_commands, "```sh\nepic verify results/smoke/prune/paper/999\n```", "no keep 999"),
        (wrong_commands, "```sh\npython -m tests.bench.growht x\n```", "no module"),
        (wrong_commands, "```sh\ncp workflow/resources/tiny/nothing my/\n```", "no file workflow"),
        (wrong_commands, "```sh\nmake setup && rn -rf x\n```", "knows no command rn"),
        (wrong_commands, "```sh\nmake 'smoke\n```", "unexpected EOF"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(check, text, complaint):
    assert any(complaint in found for found in check(Page("README.md", text + "\n"))), check(Page("README.md", text + "\n"))
