"""What an experiment is for: files, figures, commands."""

import pytest

from epic.experiment import deliverables
from epic.experiment.check import load_experiments
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]


@pytest.mark.parametrize(
    ("targets", "name", "asked"),
    [
        (["smoke"], "smoke", True),
        (["smoke"], "paper", False),
        ([], "paper", True),
        (["all"], "paper", True),
        ([], "smoke", False),
        (["results/smoke/rows/bm25.md"], "smoke", False),
        (["results/smoke/rows/bm25.md", "results/smoke/table.md"], "smoke", True),
        (["results/smoke/figures/pruning.png"], "smoke", True),
        (["results/smoke/figures/frequencies-paper.png", "results/smoke/experiment.yaml"], "smoke", False),
        (["results/smoke2/table.md"], "smoke", False),
    ],
)
def test_a_command_asks_for_all_rows_or_for_some(targets, name, asked):
    assert deliverables.asks_for_all_rows(name, targets) == asked


def asked(settings, name, row, *targets, there=()):
    return deliverables.measurement_asked_for(name, settings, row, targets, lambda timed: timed in there)


def test_a_row_is_timed_with_those_that_the_command_asks_for():
    page, alone = "results/smoke/models/released.md", "results/smoke/rows/bm25.md"
    assert asked(SMOKE, "smoke", "bm25", "smoke") == "together" and asked(SMOKE, "smoke", "bm25", alone) == "bm25"
    assert asked(SMOKE, "smoke", "released-bm25-r100", page) == "released" and asked(SMOKE, "smoke", "bm25", page) == "released"
    assert asked(SMOKE, "smoke", "epic-bm25-r100", page) == "epic-bm25-r100"
    assert asked(SMOKE, "smoke", "bm25", alone, there=["together"]) == "bm25"  # it can be timed again: vectors are kept


def test_where_vectors_are_not_kept_a_row_is_timed_with_its_model_s_others():
    alone, page = "results/paper/rows/authors-bm25-r100.md", "results/paper/models/authors.md"
    assert asked(PAPER, "paper", "authors-bm25-r100") == "authors" == asked(PAPER, "paper", "authors-bm25-r100", page)
    assert asked(PAPER, "paper", "bm25") == "paper" and asked(PAPER, "paper", "bm25", page) == "authors"
    assert asked(PAPER, "paper", "authors-bm25-r100", alone) == "authors-bm25-r100"
    assert asked(PAPER, "paper", "authors-bm25-r100", alone, there=["authors"]) == "authors"  # its vectors may be gone by now


def test_commands_figures_and_deliverables():
    commands = deliverables.commands_of("paper", PAPER)
    assert commands[""] == "snakemake results/paper/report.html --cores all --resources gpu=1"
    assert commands["tk-1"] == "snakemake results/paper/rows/tk-1.md --cores all --resources gpu=1"
    of_smoke = deliverables.commands_of("smoke", SMOKE)
    assert of_smoke["bm25"] == "snakemake results/smoke/rows/bm25.md --cores all" and of_smoke["tk-3"] is None  # it is not run
    figures = deliverables.figures_of(PAPER)
    assert (
        figures[:3] == ["frequencies-paper", "frequencies-released", "frequencies-authors"] and "training-authors" not in figures
    )
    assert {"tradeoff", "pruning", "cutoffs", "stages", "words-authors", "training-released"} <= set(figures)
    few = PAPER | {"encode": PAPER["encode"] | {"passages": "candidates"}}
    assert deliverables.figures_of(few) == figures[3:]  # the values of most passages are not known
    made = deliverables.deliverables("smoke", SMOKE)
    assert {
        "results/smoke/table.md",
        "results/smoke/experiment.yaml",
        "results/smoke/rows/tk-3.md",
        "results/smoke/models/released.md",
        "results/smoke/figures/pruning.png",
    } <= set(made)
