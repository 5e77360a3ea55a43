"""Every checkable sentence of the paper, the finding here, and whether the sentence holds.

A number is compared only under the paper's conditions. A claim of order or of significance is checked everywhere, but
elsewhere the verdict is only `seen here` or `not seen here`: it says nothing about the paper.
"""

from pathlib import Path

import pandas as pd
import yaml

from epic.core.files import InputError, write_json, write_text
from epic.core.markdown import markdown_table, plain
from epic.experiment.measure_labels import spoken
from epic.experiment.measure_names import KNOWN, is_known
from epic.judging.checks import CHECKS, OF_MEASURE, OF_SELECTION, WITHOUT_MODEL
from epic.judging.evidence import Evidence, Found, UncheckedError
from epic.judging.verdicts import NOT_COMPARABLE, OTHER, ROUNDING, said

HOLDS, FAILS, INCONCLUSIVE, UNCHECKED = "holds", "does not hold", "inconclusive", "not checkable here"
HARDWARE = "hardware"  # never the paper's
SEEN, UNSEEN = "seen here", "not seen here"
FAMILY = "epic"  # the family that the paper's claims are about
RULES = ("tolerance", "at_least", "at_most")
KEYS = {"id", "section", "says", "published", "unit", "measure", "computed", "needs", "says_why", *RULES}


def read_claims(path) -> list[dict]:
    """Read the claims of a file; refuse a key or a function that does not exist."""
    claims = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    for claim in claims:
        if odd := sorted(claim.keys() - KEYS):
            raise InputError(f"{path}: claim {claim.get('id')} has no key {odd[0]}; there are {', '.join(sorted(KEYS))}")
        if ("computed" in claim) == ("says_why" in claim):
            raise InputError(f"{path}: claim {claim['id']} needs either computed or says_why")
        if unknown := [name for name in claim.get("computed", {}) if name not in CHECKS]:
            raise InputError(f"{path}: claim {claim['id']}: no function {unknown[0]}; there are {', '.join(CHECKS)}")
        if ("measure" in claim) != bool(claim.get("computed", {}).keys() & (OF_MEASURE | OF_SELECTION)):
            said = "has no measure" if "measure" in claim else "needs the measure that the paper took"
            raise InputError(f"{path}: claim {claim['id']} {said}")
        if "measure" in claim and not is_known(claim["measure"]):
            raise InputError(f"{path}: claim {claim['id']}: there is no measure {claim['measure']}; there are {KNOWN}")
    if len({claim["id"] for claim in claims}) != len(claims):
        raise InputError(f"{path}: an id is given twice")
    return claims


def check(claim: dict, evidence: Evidence, model: str | None, differs: list[str]) -> dict:
    """Check a claim for one model; differs: those of collection and encoder that are not the paper's."""
    try:
        ((name, arguments),) = claim["computed"].items()
        found = CHECKS[name](evidence, model, *arguments)
        other = _other_measure(claim, evidence, name, found)
    except UncheckedError as reason:
        return {"model": model, "ours": None, "verdict": UNCHECKED, "because": [str(reason)], "detail": ""}
    needed = [name for name in claim["needs"] if name in (*differs, *found.differs, HARDWARE)]
    verdict, because = _verdict(claim, found, needed + other)
    return {"model": model, "ours": found.value, "verdict": verdict, "because": because, "detail": found.detail}


def _other_measure(claim: dict, evidence: Evidence, name: str, found: Found) -> list[str]:
    """Say whether the paper took another measure; a value of another one is none that could stand beside the published one."""
    theirs, ours = claim.get("measure"), evidence.selection if name in OF_SELECTION else evidence.measure
    if theirs in (None, ours):
        return []
    if name in OF_MEASURE and not isinstance(found.value, str):
        raise UncheckedError(f"the table shows {spoken(ours)} here, not {spoken(theirs)}")
    return ["measure"]


def _verdict(claim: dict, found: Found, differs: list[str]) -> tuple[str, list[str]]:
    because = [OTHER + name for name in differs]
    if isinstance(found.value, str):
        words = (SEEN, UNSEEN) if differs else (HOLDS, FAILS)
        return (INCONCLUSIVE if found.holds is None else words[0] if found.holds else words[1]), because
    if differs:
        return NOT_COMPARABLE, because
    answers = {_within(claim, value) for value in (found.value, *(found.interval or ()))}
    return (INCONCLUSIVE if len(answers) > 1 else HOLDS if answers.pop() else FAILS), []


def _within(claim: dict, value: float) -> bool:
    """Tell whether a number is near enough to the published one, or on its right side."""
    if "at_least" in claim:
        return value >= claim["at_least"] - ROUNDING
    if "at_most" in claim:
        return value <= claim["at_most"] + ROUNDING
    return abs(value - claim["published"]) <= claim["tolerance"] + ROUNDING


def check_all(
    claims: list[dict], evidence: Evidence, differs: dict[str | None, list[str]], families: dict[str, str]
) -> list[dict]:
    """Check all claims, each for every model it speaks of; differs: by model, and under None for claims without a model.

    families: the family of each model; the claims are the paper's, and the paper speaks of one family alone.
    """
    found = []
    for claim in claims:
        about = {key: claim.get(key) for key in ("id", "section", "says", "published", "unit", *RULES)}
        if "says_why" in claim:
            results = [{"model": None, "ours": None, "verdict": UNCHECKED, "because": [claim["says_why"]], "detail": ""}]
        else:
            alone = set(claim["computed"]) <= WITHOUT_MODEL
            models = [None] if alone else [model for model in differs if model is not None and families[model] == FAMILY]
            results = [check(claim, evidence, model, differs[model]) for model in models]
        found.append(about | {"results": results})
    return found


def shown(value, unit: str | None) -> str:
    """Format a value for people."""
    if value is None or isinstance(value, str):
        return value or "-"
    if unit == "share":
        return f"{100 * value:.1f} %"
    digits = f"{value:,.0f}" if abs(value) >= 100 or float(value).is_integer() else f"{value:.3g}"
    return f"{digits} {unit}" if unit else digits


def markdown(claims: list[dict], title: str, note: str) -> str:
    """Lay out the claims as a Markdown page for people."""
    heading = f"# What the paper says, and what was found: {plain(title)}"
    explained = "`seen here` and `not seen here` are of other data than the paper's, and say nothing about the paper."
    table = markdown_table(as_frame(claims), right=["published", "ours"])
    return "\n\n".join([heading, table, explained, f"*{plain(note)}*"]) + "\n"


def as_frame(claims: list[dict]) -> pd.DataFrame:
    """Lay out the claims for people, a line for each model; a claim's own words stand only in its first line."""
    about = ["", "claim", "published"]
    frame = pd.DataFrame(
        [
            {
                "id": claim["id"],
                "": claim["section"],
                "claim": claim["says"],
                "published": shown(claim["published"], claim["unit"]),
                "model": result["model"],
                "ours": shown(result["ours"], claim["unit"]) + (f" ({result['detail']})" if result["detail"] else ""),
                "verdict": said(result["verdict"], result["because"]),
            }
            for claim in claims
            for result in claim["results"]
        ],
        columns=["id", *about, "model", "ours", "verdict"],
    )
    frame.loc[frame["id"].duplicated(), about] = ""
    return frame.drop(columns="id")


def write_claims(path, evidence: Evidence, differs: dict, families: dict, title: str, note: str, outs: dict) -> None:
    """Check all claims of a file and write them as JSON and Markdown."""
    found = check_all(read_claims(path), evidence, differs, families)
    write_json(outs["json"], {"title": title, "claims": found, "note": note})
    write_text(outs["md"], markdown(found, title, note))
