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


def test_commands_figures_and_deliverables():
    commands = deliverables.commands_of("paper", PAPER)
    assert commands[""] == "snakemake results/paper/report.html --cores all --resources gpu=1" and commands["tk-1"] is None
    assert deliverables.commands_of("smoke", SMOKE)["bm25"] == "snakemake results/smoke/rows/bm25.md --cores all"
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
        "results/smoke/figures/pruning.png",
    } <= set(made)
