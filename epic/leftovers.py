"""Saved states of training runs that have ended well; kept until Snakemake has recorded their checkpoints."""

import shutil
from pathlib import Path


def remove_states(results) -> list[Path]:
    """Remove the states below `results` whose checkpoints are there, and return them."""
    done = [
        state
        for state in sorted(Path(results).glob("*/state/train/*"))
        if (state.parents[2] / "train" / state.name / "checkpoint").exists()
    ]
    for state in done:
        shutil.rmtree(state)
        for folder in (state.parent, state.parent.parent):  # not if another run's state is in it
            if not any(folder.iterdir()):
                folder.rmdir()
    return done
