"""After an edit just what depends on it is made again: looked at by dry runs after a run of `make smoke`."""

import os
import re
import shutil
from contextlib import contextmanager
from functools import partial

import pytest

from tests.conftest import ROOT
from tests.processes import call, snakemake_command
from tests.workflow.test_dryrun import jobs

pytestmark = pytest.mark.smoke


EVERY_OTHER = {path.stem for path in (ROOT / "workflow/scripts").glob("*.py")} - {"experiment", "metadata", "report"}


def dry(copy, *targets):
    """The jobs that Snakemake would run in the copy."""
    asked = partial(snakemake_command, folder=copy)  # in a new process, so that code is read anew
    run = call(asked, *targets, "--dry-run", "--cores", "2", environment=os.environ | {"VERBOSE": "1"})
    assert run.returncode == 0, run.stdout
    return jobs(run.stdout) if "Job stats" in run.stdout else {}


@contextmanager
def edited(path, pattern, replacement):
    """A file with its first match replaced, and afterwards as it was, its time too."""
    text, times = path.read_text(), path.stat()
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    try:
        path.write_text(changed)
        yield
    finally:
        path.write_text(text)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_adding_a_row_neither_trains_nor_encodes(copy):
    added = "\n  - {id: epic-bm25-r50, label: r=50, group: Mine, kind: model, model: paper, first_stage: bm25, keep: 50, published: []}\n"
    with edited(copy / "workflow/experiments/smoke.yaml", r"\s*\Z", added):
        found = set(dry(copy, "results/smoke/rows/epic-bm25-r50.md"))
    assert not {"train", "encode", "tune", "weigh", "index", "retrieve"} & found
    assert {"prune", "rerank", "evaluate", "latency", "rows"} <= found


@pytest.mark.parametrize(
    ("module", "pattern", "replacement", "rerun", "kept"),
    [
        ("epic/report/table.py", r"4, \"not run\"", '5, "not run"', {"table"}, {"rows", "evaluate", "train"}),
        ("epic/report/table.py", "A Markdown table", "A nice Markdown table", set(), {"table"}),  # a docstring
        ("epic/ranking/tune.py", "return values.index", "# why\n    return values.index", set(), {"tune"}),  # a comment
        (
            "epic/vectors/stored_rows.py",
            r"low = 0\n",
            "low = 0 + 0\n",
            {"rerank", "latency", "evaluate", "table"},
            {"train", "curves", "encode", "prune", "weigh"},
        ),
        (
            "epic/evaluation/measures.py",
            r"doc_ids\[: measure\.depth\]",
            "doc_ids[: measure.depth or 9]",
            {"train", "evaluate", "tune", "significance"},
            {"index", "retrieve", "expand"},
        ),
        (
            "epic/vectors/prune.py",
            "ROWS_AT_A_TIME = 256",
            "ROWS_AT_A_TIME = 128",
            {"prune", "rerank", "latency"},
            {"train", "encode", "tune", "frequencies"},
        ),
        ("workflow/scripts/train.py", '"""Train one model."""', '"""Train a model."""\n\n# why', set(), {"train"}),
        (
            "workflow/experiments/smoke.yaml",
            "index_memory_mb: 512",
            "index_memory_mb: 600",
            {"metadata", "report"},
            {"train", "encode", "table"},
        ),
        (
            "workflow/experiments/smoke.yaml",
            "token_budget: 4096, vocabulary_block: 1024",
            "token_budget: 1024, vocabulary_block: 512",
            {"metadata", "report"},  # they list the settings
            EVERY_OTHER,
        ),
        (
            "workflow/experiments/smoke.yaml",
            "validation_token_budget: 4096",
            "validation_token_budget: 512",
            {"metadata"},
            EVERY_OTHER,
        ),
        ("workflow/experiments/smoke.yaml", "k1: 0.9, b: 0.4", "k1: 0.4, b: 0.9", {"retrieve", "evaluate"}, {"index", "expand"}),
        (
            "workflow/experiments/smoke.yaml",
            "measure: RR@10, selection",
            "measure: nDCG@10, selection",
            {"significance", "rows", "table", "claims", "report"},
            {"train", "tune", "encode", "rerank", "evaluate", "latency", "curves"},
        ),
        (
            "workflow/experiments/smoke.yaml",
            "selection: RR@10",
            "selection: Rprec",
            {"train", "tune", "encode", "rerank", "curves"},
            {"index", "retrieve", "tokenise", "regress"},
        ),
        ("epic/training/card.py", "Started anew.", "It started anew.", set(), {"train"}),  # a model card is for people
        ("epic/experiment/problems.py", "is no multiple of", "must be a multiple of", set(), {"train", "encode"}),
        ("epic/training/train.py", "lower train.learning_rate", "try a lower train.learning_rate", set(), {"train"}),
        ("docs/deviations.md", "- ", "- Note: ", {"report"}, {"table", "claims", "figures"}),
        (
            "workflow/resources/published.yaml",
            "value: 0.198",
            "value: 0.199",
            {"rows", "table", "claims"},
            {"train", "evaluate", "latency"},
        ),
        ("epic/report/report.py", '"Results"', '"The results"', {"report"}, {"table", "claims", "charts", "encode", "latency"}),
        (
            "epic/latency/timings.py",
            "LEVEL = 0.95",
            "LEVEL = 0.9",
            {"latency", "rows", "claims", "report"},
            {"train", "encode", "rerank", "evaluate"},
        ),
        ("workflow/resources/claims.yaml", "tolerance: 50000", "tolerance: 60000", {"claims", "report"}, {"table", "latency"}),
        ("workflow/scripts/figures.py", "Values in", "All values in", {"figures"}, {"frequencies", "table"}),
    ],
)
def test_editing_code_reruns_what_depends_on_it_and_nothing_else(copy, module, pattern, replacement, rerun, kept):
    with edited(copy / module, pattern, replacement):
        found = set(dry(copy, "smoke"))
    assert rerun <= found and not kept & found, found
    assert bool(found) == bool(rerun)


@pytest.mark.parametrize(
    ("name", "rerun", "kept"),
    [
        (
            "queries.test.tsv",
            {"queries", "retrieve", "weigh", "evaluate", "candidates"},
            {"train", "encode", "tokenise", "index"},
        ),
        ("docs.tsv", {"data", "expand", "train", "encode"}, set()),
        (
            "predicted/predicted_queries_topk_sample002.txt001-1004000",
            {"expand", "index", "retrieve"},
            {"train", "encode", "data"},
        ),
    ],
)
def test_editing_the_collection_reruns_what_reads_it(copy, name, rerun, kept):
    with edited(copy / "workflow/resources/tiny" / name, "the", "that"):
        found = set(dry(copy, "smoke"))
    assert rerun <= found and not kept & found, found


def test_a_copied_checkout_has_nothing_to_do(copy, tmp_path):
    assert dry(copy, "smoke") == {}
    elsewhere = tmp_path / "elsewhere" / "checkout"
    shutil.copytree(copy, elsewhere, symlinks=True)  # with all times
    assert dry(elsewhere, "smoke") == {}
    recorded = [path.read_text() for path in (copy / ".snakemake/metadata").rglob("*") if path.is_file()]
    assert recorded and not [record for record in recorded if str(copy) in record]
