"""What an experiment is for: files, figures, commands."""

from epic.experiment import deliverables
from epic.experiment.check import load_experiments
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]


def test_commands_figures_and_deliverables():
    commands = deliverables.commands_of("paper", PAPER)
    assert commands[""] == "snakemake results/paper/report.html --cores all --resources gpu=1" and commands["tk-1"] is None
    assert deliverables.commands_of("smoke", SMOKE)["bm25"] == "snakemake results/smoke/rows/bm25.md --cores all"
    figures = deliverables.figures_of(PAPER)
    assert (
        figures[:3] == ["frequencies-paper", "frequencies-released", "frequencies-authors"] and "training-authors" not in figures
    )
    assert {"tradeoff", "pruning", "cutoffs", "stages", "words-authors", "training-released"} <= set(figures)
    made = deliverables.deliverables("smoke", SMOKE)
    assert {
        "results/smoke/table.md",
        "results/smoke/experiment.yaml",
        "results/smoke/rows/tk-3.md",
        "results/smoke/figures/pruning.png",
    } <= set(made)
