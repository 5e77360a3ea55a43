"""Settings of single stages as they reach the code: named, and nothing else of the experiment.

They are apart from `check`, which says what an experiment may hold: train and encode depend on these classes, not on checks.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainSettings:
    """Settings of training: the keys of `train` in an experiment."""

    batch_size: int
    micro_batch_size: int
    learning_rate: float
    learning_rate_new_layers: float
    validate_every: int
    validation_hits: int
    validation_first_stage: str
    validation_token_budget: int
    patience: int
    max_validations: int
    max_tokens: int | None
    precision: str
    threads: int
    schedule: dict | None = None  # warm_up and steps
    weight_decay: float | None = None
    clip: float | None = None
    halve_after: int | None = None


@dataclass(frozen=True)
class EncodeSettings:
    """Settings of encoding passages: the keys of `encode` in an experiment, except the number of shards."""

    keep: list[int]  # kept terms of a passage, ascending: a layer for each
    token_budget: int
    vocabulary_block: int
