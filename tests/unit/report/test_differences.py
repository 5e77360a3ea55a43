"""Differences from the paper's settings."""

from epic.report.differences import differing


def test_settings_that_are_not_the_papers_are_listed():
    paper = {
        "title": "a",
        "train": {"batch_size": 16, "max_tokens": None},
        "models": [{"id": "paper", "seed": 42}],
        "tune": {"x": 1},
    }
    mine = {
        "title": "b",
        "train": {"batch_size": 16, "max_tokens": 160},
        "models": [{"id": "paper", "seed": 7}, {"id": "new", "seed": 1}],
    }
    assert differing(mine, paper) == [
        ("train.max_tokens", None, 160), ("models.paper.seed", 42, 7), ("tune.x", 1, "-"), ("models.new.seed", "-", 1),
    ]  # fmt: skip
    assert differing(paper, paper) == []
