"""EPIC (SIGIR 2020), reproduced: the logic of every stage, without Snakemake."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # the repository
