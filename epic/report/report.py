"""The report: one HTML page that needs nothing else, for reading results at leisure and for passing them on."""

import base64
import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from epic.core.files import read_json, write_text
from epic.core.visible import visible
from epic.experiment.measure_labels import spoken
from epic.judging import claims, verdicts
from epic.judging.evidence import paired_timings
from epic.latency.timings import overhead
from epic.report.words import color, shades

COLORS = {
    "good": (verdicts.MATCH, claims.HOLDS),
    "bad": (verdicts.ABOVE, verdicts.BELOW, claims.FAILS),
    "known": ("different", "equivalent"),
    "open": (claims.INCONCLUSIVE,),
}
SECTIONS = {
    "table": "Results",
    "measures": "All measures",
    "figures": "Figures",
    "texts": "Word by word",
    "significance": "Significance",
    "claims": "Claims",
    "latency": "Latency",
    "costs": "Costs",
    "differences": "What differs",
    "commands": "Commands",
    "metadata": "Run",
}


def class_of(verdict: str) -> str:
    """Return the colour class of a verdict; its words alone say everything."""
    return next((name for name, words in COLORS.items() if verdict.startswith(words)), "")


def number(value, digits: int, signed: bool = False) -> str:
    """Format a number for people, a dash if there is none."""
    return "–" if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def reasons(because: list[str]) -> str:
    """Say why there is no verdict."""
    return verdicts.said("", because).removeprefix(": ")


def colored(pieces: list[str], weights: list[float], scale: list[float]) -> list[tuple[str, float, str]]:
    """Return word-pieces with their weights and the colours behind them."""
    backgrounds = (color(shade) for shade in shades(weights, scale))
    hexes = ("#" + "".join(f"{round(255 * part):02x}" for part in background) for background in backgrounds)
    return list(zip(pieces, weights, hexes, strict=True))


def seen(value):
    """Return what the page shows for a value; whatever is no markup of ours shows its invisible characters, too."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def inline_code(text: str) -> Markup:
    """Mark up `code` in a text."""
    parts = visible(text).split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts))


def bullets(markdown: str, heading: str) -> list[str]:
    """Return the list under a heading of a Markdown page, each item on one line."""
    body = re.split(rf"^## {re.escape(heading)}$", markdown, flags=re.MULTILINE)[1:]
    items = re.findall(r"^- (.*(?:\n  .*)*)", re.split(r"^## ", body[0], flags=re.MULTILINE)[0], re.MULTILINE) if body else []
    return [" ".join(item.split()) for item in items]


def tiles(table: dict, tests: dict, claimed: list[dict]) -> list[dict]:
    """Count the verdicts of each kind, which a reader wants to know first."""
    said = {
        "Rows of the table": [row["verdict"] for row in table["rows"]],
        "Claims of the paper": [result["verdict"] for claim in claimed for result in claim["results"]],
        "Comparisons": [
            test["conclusion"] for found in tests.values() for family in found["families"] for test in family["tests"]
        ],
    }
    return [{"title": title, "counts": dict(Counter(words).most_common())} for title, words in said.items()]


def measured(rows: dict) -> dict[str, dict]:
    """Return all measures by query set: their names, and the means of each row that was run."""
    found: dict[str, dict] = {}
    for row in rows.values():
        for query_set, values in row["metrics"].items():
            names = [name for name in values if name not in ("queries", "answered")]
            part = found.setdefault(query_set, {"queries": values["queries"], "names": names, "rows": {}})
            part["rows"][row["label"]] = [values[name] for name in names]
    return found


def overheads(rows: list[dict], timings: dict) -> dict:
    """Return each timed re-ranking row's time beyond its own first stage, paired by query; rows: their facts."""
    first = {row["first_stage"]: row["id"] for row in rows if row["kind"] == "first-stage"}
    stood_on = {row["id"]: row["first_stage"] for row in rows if row["kind"] == "model"}
    stood_on |= {row["id"]: row["settings"]["timed"]["first_stage"]["id"] for row in rows if "sources" in row}
    timed = {row for measured in timings.values() for row in measured}  # not those on a run file
    known = {row: first[stage] for row, stage in stood_on.items() if stage in first and row in timed}
    return {row: overhead(*paired_timings(timings, row, baseline)) for row, baseline in known.items()}


def stages_of(latencies: dict) -> list[str]:
    """List the stages of all rows, in the order in which they are met, the total left out."""
    return list(dict.fromkeys(stage for found in latencies.values() for stage in found["ms"] if stage != "total"))


def passes(latencies: dict) -> str:
    """Say whether files were dropped from memory for the cold pass; nothing was timed where every first stage is a run file."""
    if not latencies:
        return "Nothing was timed: first stages that are run files are not searched."
    skipped = sorted({found["cold_skipped"] for found in latencies.values() if found["cold_skipped"]})
    if skipped:
        return f"No cold pass for some rows: {'; '.join(skipped)}."
    return "Cold: the same queries again, with index and vectors dropped from memory; Java has had more time to warm up by then."


def figure(path, captions) -> dict:
    """Return a figure with its caption; `frequencies-paper` has the caption of `frequencies`."""
    name = Path(path).stem
    kind = next(part for part in (name, name.rpartition("-")[0], name.split("-")[0]) if (Path(captions) / f"{part}.rst").exists())
    text = (Path(captions) / f"{kind}.rst").read_text(encoding="utf-8").strip()
    return {"name": name, "caption": text, "data": base64.b64encode(Path(path).read_bytes()).decode()}


def context(files: dict, commands: dict, differences: list, figures: list, folder) -> dict:
    """Return everything the page shows; files: paths by name, or paths by model, row or query set."""
    table, claimed = read_json(files["table"]), read_json(files["claims"])["claims"]
    by_name = {
        kind: {name: read_json(path) for name, path in files[kind].items()}
        for kind in ("significance", "latencies", "texts", "costs", "rows")
    }
    metadata = read_json(files["metadata"])
    alpha = next(iter(by_name["significance"].values()))["alpha"]
    script = Markup(Path(folder, "page.js").read_text(encoding="utf-8"))
    return by_name | {
        "title": table["title"],
        "note": table["note"],
        "caption": table["caption"],
        "records": table["rows"],
        "measured": measured(by_name["rows"]),
        "over": table["over"],
        "measure": spoken(table["measure"]),
        "claims": claimed,
        "tiles": tiles(table, by_name["significance"], claimed),
        "sections": list(SECTIONS.items()),
        "figures": [figure(path, folder) for path in figures],
        "alpha": alpha,
        "level": f"{100 * (1 - alpha):g}",
        "overheads": overheads(list(by_name["rows"].values()), files["timings"]),
        "stages": stages_of(by_name["latencies"]),
        "latency_said": passes(by_name["latencies"]),
        "settings": differences,
        "differences": bullets(Path(files["deviations"]).read_text(encoding="utf-8"), "Where paper and code differ"),
        "commands": commands,
        "metadata": metadata,
        "metadata_text": json.dumps(metadata, indent=2, ensure_ascii=False),
        "style": Markup(Path(folder, "page.css").read_text(encoding="utf-8")),
        "script": script,
        "script_sha256": base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode(),
    }


def write_report(files: dict, commands: dict, differences: list, figures: list, folder, out) -> None:
    """Fill the page; differences: settings that are not the paper's, folder: holds template, style, script and captions."""
    loader = jinja2.FileSystemLoader(str(folder), encoding="utf-8")
    strict = {"autoescape": True, "undefined": jinja2.StrictUndefined}
    environment = jinja2.Environment(loader=loader, finalize=seen, **strict)
    filters = (class_of, number, reasons, colored, inline_code)
    environment.filters |= {function.__name__: function for function in filters} | {"shown": claims.shown}
    write_text(out, environment.get_template("page.html").render(context(files, commands, differences, figures, folder)))
