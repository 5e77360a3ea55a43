"""A model as a page for people: its rows, published values and verdicts, tests, cut-offs, latency, vectors and words."""

import pandas as pd

from epic.core.files import read_json, write_text
from epic.core.markdown import as_text, code, markdown_table, plain
from epic.evaluation.significance import compare, holm, paired, side_by_side
from epic.experiment.measure_labels import spoken
from epic.judging.rows import published_ms
from epic.latency.timings import overhead
from epic.report.row_page import NOT_TIMED, published_lines, remarked
from epic.training.history import Iteration, best_of, read_histories
from epic.vectors.frequencies import read_frequencies, share_up_to

SHOWN = 5  # words of a text
GB = 1e9


def write_model(model: dict, files: dict, first: dict, tests: list[dict], about: dict, out) -> None:
    """Write the page; model: id and label, files: paths by kind, about: title and note of the experiment, alpha, the command,
    and the measure that chose the model.

    first: the row of each row's own first stage; tests: of each row against it on a query set, with the measure and the two
    files of per-query values.
    """
    rows = [read_json(path) for path in files["rows"].values()]
    lines = [f"# {plain(model['label'])}", "", f"Model {code(model['id'])} of: {plain(about['title'])}.", ""]
    lines += _training(files["history"], rows, about["chosen_by"])
    lines += _section("Effectiveness", _effectiveness(rows))
    lines += _section("Published values", _published(rows))
    lines += _section("Against its first stages", _tests(tests, about["alpha"]))
    lines += _section("Cut-offs", _cutoffs(files["cutoffs"]))
    lines += _section("Latency", _latency(rows, first, files))
    lines += _section("Its vectors", _vectors(files))
    lines += _section("Words", _words(files["texts"]))
    write_text(out, "\n".join([*lines, "Made by:", "", "```sh", about["command"], "```", "", f"*{plain(about['note'])}*", ""]))


def _section(heading: str, lines: list[str]) -> list[str]:
    return [f"## {heading}", "", *lines] if lines else []


def _training(history, rows: list[dict], measure: str) -> list[str]:
    histories = read_histories(history) if history else []
    if not any(histories):
        return ["Not trained here: its weights are those that it starts from.", ""]
    remarks = remarked([remark for row in rows for remark in row.get("remarks", [])])
    if len(histories) == 1:
        return [f"Trained here: {_best(histories[0], measure)}.", "", *remarks]
    lines = [f"Trained here: {len(histories)} members, whose scores are added up.", ""]
    lines += [f"{number}. The {_best(one, measure)}." for number, one in enumerate(histories, start=1)]
    return [*lines, "", *remarks]


def _best(history: list[Iteration], measure: str) -> str:
    best = best_of(history)
    return f"best of {len(history)} validations is number {best.iteration}, {spoken(measure)} {best.validation:.4f}"


def _effectiveness(rows: list[dict]) -> list[str]:
    lines = []
    for name in dict.fromkeys(name for row in rows for name in row["metrics"]):
        scored = [row for row in rows if name in row["metrics"]]
        means = pd.DataFrame([row["metrics"][name] for row in scored]).drop(columns=["queries", "answered"], errors="ignore")
        shown = means.apply(as_text, form=".4f")
        shown.insert(0, f"{name}, {scored[0]['metrics'][name]['queries']} queries", [row["label"] for row in scored])
        lines += [markdown_table(shown, right=means.columns), ""]
    return lines


def _published(rows: list[dict]) -> list[str]:
    entries = [(row["label"], entry) for row in rows for entry in row["published"]]
    return published_lines([entry for _, entry in entries], [label for label, _ in entries])


def _tests(tests: list[dict], alpha: float) -> list[str]:
    lines = []
    for query_set in dict.fromkeys(test["query_set"] for test in tests):
        chosen = [test for test in tests if test["query_set"] == query_set]
        found = [_compared(test, alpha) for test in chosen]
        corrected = holm([one["p"] for one in found])
        frame = pd.DataFrame(
            {
                f"{query_set}, {chosen[0]['metric']}, {found[0]['queries']} queries": [test["row"] for test in chosen],
                "against": [test["baseline_id"] for test in chosen],
                "difference": [f"{one['difference']:+.4f}" for one in found],
                f"{100 * (1 - alpha):g} % interval": ["{:+.4f} to {:+.4f}".format(*one["interval"]) for one in found],
                "p": [f"{one['p']:.2g}" for one in found],
                "p corrected": [f"{p:.2g}" for p in corrected],
                "won, tied, lost": [f"{one['wins']}, {one['ties']}, {one['losses']}" for one in found],
            }
        )
        lines += [markdown_table(frame, right=["difference", "p", "p corrected"]), ""]
    return [*lines, "Paired t-tests; p is corrected for the tests of one table above (Holm).", ""] if lines else []


def _compared(test: dict, alpha: float) -> dict:
    values = side_by_side({name: test[name] for name in ("system", "baseline")}, test["metric"])
    return compare(*paired(values, "system", "baseline"), alpha, margin=None)


def _cutoffs(cutoffs: dict) -> list[str]:
    found = {stage: read_json(path) for stage, path in cutoffs.items()}
    frame = pd.DataFrame(
        {
            "first stage": found.keys(),
            "hits re-ranked": [str(one["cutoff"]) for one in found.values()],
            "chosen from": [f"1 to {len(one['curve'])}" for one in found.values()],
        }
    )
    return [markdown_table(frame, right=["hits re-ranked"]), ""]


def _latency(rows: list[dict], first: dict, files: dict) -> list[str]:
    by_id = {row["id"]: row for row in rows}
    timed = {row: read_json(path) for row, path in files["latencies"].items()}
    if not timed:
        return [f"{NOT_TIMED}.", ""]
    frame = pd.DataFrame(
        {
            "row": row,
            "ms per query": f"{found['ms']['total']['mean']:.2f}{_fewer(found)}",
            "95 % interval": "{:.2f} to {:.2f}".format(*found["ms"]["total"]["interval"]),
            "p95": f"{found['ms']['total']['p95']:.2f}",
            "cold": f"{found['cold']['total']['mean']:.2f}" if found["cold"] else None,
            "beyond its first stage": _beyond(files["timings"], row, first.get(row)),
            "the paper's": f"{published_ms(by_id[row]):g}" if row in by_id and published_ms(by_id[row]) is not None else None,
        }
        for row, found in timed.items()
    )
    beside = len(next(iter(timed.values()))["together"])
    said_of = f"In milliseconds, of one measurement in which {beside} rows took turns; the paper's are of its own hardware."
    return [markdown_table(frame, right=[name for name in frame.columns if name != "row"]), "", said_of, ""]


def _fewer(latency: dict) -> str:
    return f" ({latency['queries']} queries)" if "instead_of" in latency else ""


def _beyond(timings: dict, row: str, first: str | None) -> str | None:
    if first is None:
        return None
    found = overhead(timings[row], timings[first])["ms"]
    return "{:+.2f} ({:+.2f} to {:+.2f})".format(found["mean"], *found["interval"])


def _vectors(files: dict) -> list[str]:
    if not files["costs"]:
        return []
    found = read_json(files["costs"])
    frame = pd.DataFrame(
        {
            "terms kept": str(store["keep"]),
            "bytes a passage": f"{store['bytes_per_passage']:,.0f}",
            "GiB": f"{store['gib']:.3g}",
            "GiB for MS MARCO": f"{store['ms_marco_gib']:.1f}",
        }
        for store in found["stores"]
    )
    gone = read_json(files["discarded"]) if files["discarded"] else None
    lines = [
        f"{found['passages']:,} passages at {found['passages_per_second']:.1f} a second on {plain(found['compute']['device'])}: "
        f"{found['ms_marco_hours']:.1f} hours for MS MARCO's. {_small_values(files['frequencies'])}",
        "",
        markdown_table(frame, right=frame.columns),
        "",
    ]
    if gone:
        lines += [f"They were removed after use ({gone['bytes'] / GB:.3g} GB). To make them again: {code(gone['again'])}", ""]
    return lines


def _small_values(frequencies) -> str:
    """Say how many values are small; they are only counted where all passages are encoded."""
    if not frequencies:
        return "Only candidates were encoded, so that nothing is said of values over the whole collection."
    return f"{100 * share_up_to(read_frequencies(frequencies), 1):.1f} % of all values are 0.1 or below."


def _words(texts) -> list[str]:
    found = read_json(texts) if texts else {"queries": [], "passages": []}
    shown = [("query", text["text"], text) for text in found["queries"]]
    for passage in found["passages"]:
        shown += [
            ("passage", passage["text"], passage),
            ("passage, terms that it does not have", passage["text"], passage["expansion"]),
        ]
    if not shown:
        return []
    frame = pd.DataFrame(
        {"text": kind, "it says": text[:80] + "..." * (len(text) > 80), "strongest words": _strongest(part)}
        for kind, text, part in shown
    )
    return [markdown_table(frame), ""]


def _strongest(part: dict) -> str:
    weights: dict[str, float] = {}
    for piece, weight in zip(part["pieces"], part["weights"], strict=True):
        weights[piece] = max(weight, weights.get(piece, weight))
    return ", ".join(
        f"{piece} {weights[piece]:.2f}" for piece in sorted(weights, key=lambda piece: (-weights[piece], piece))[:SHOWN]
    )
