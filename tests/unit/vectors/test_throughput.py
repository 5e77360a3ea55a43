"""The pace of encoding: what a log says, and what is kept beside a shard."""

import json

from epic.vectors.throughput import pace, write_pace
from tests.vectors import dense, write


def test_the_pace_is_told():
    assert pace(50, 200, 10.0) == "50 of 200 passages, 5.0 passages/s, 0.5 minutes left"


def test_the_end_is_told_too_and_no_time_is_no_failure():
    assert pace(200, 200, 8.0) == "200 of 200 passages, 25.0 passages/s, 0.0 minutes left"
    assert pace(3, 6, 0.0).startswith("3 of 6 passages, 3000000000.0 passages/s, 0.0 minutes left")


def test_how_long_a_shard_took_is_kept_beside_it_with_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr("epic.vectors.throughput.machine", lambda: {"cpu": "AMD EPYC"})
    write(tmp_path / "1-of-2", dense(3, 10), keep=4)
    before = sorted(path.name for path in (tmp_path / "1-of-2").iterdir())
    write_pace(2.5, {"device": "cpu"}, tmp_path / "1-of-2", tmp_path / "1-of-2.pace.json")
    assert json.loads((tmp_path / "1-of-2.pace.json").read_text()) == {
        "documents": 3, "seconds": 2.5, "compute": {"device": "cpu"}, "machine": {"cpu": "AMD EPYC"},
    }  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "1-of-2").iterdir()) == before  # the shard is the same each time
