"""A job computes from inputs as they were written, and seals what it writes."""

from types import SimpleNamespace

import pytest

from epic.core import seals
from epic.core.files import InputError
from epic.core.stage import stage


@pytest.fixture
def run(tmp_path):
    """A sealed input of two lines."""
    path = tmp_path / "test.run"
    path.write_text("q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n")
    seals.seal([path], "retrieve")
    return path


def job(folder, **inputs):
    """What Snakemake gives a script, as far as a stage needs it."""
    return SimpleNamespace(log=[folder / "x.log"], input=list(inputs.values()), output=[folder / "out.json"], rule="evaluate")


def test_a_stage_refuses_a_changed_input_before_it_computes_and_seals_its_outputs(run, tmp_path, monkeypatch):
    monkeypatch.setattr("epic.core.log.end_with_run", lambda: None)
    with stage(job(tmp_path, run=run)):
        (tmp_path / "out.json").write_text("{}")
    assert seals.is_sealed(tmp_path / "out.json")
    run.write_text("")
    with pytest.raises(SystemExit), stage(job(tmp_path, run=run)):
        pytest.fail("the body must not run")
    assert (
        (tmp_path / "x.log")
        .read_text()
        .splitlines()[-1]
        .startswith(f"error: {run} has 0 bytes; 40 bytes in 2 lines were written")
    )
    assert seals.was_refused(run) and not seals.is_sealed(tmp_path / "out.json")


def test_a_stage_that_fails_leaves_no_seal(run, tmp_path, monkeypatch):
    monkeypatch.setattr("epic.core.log.end_with_run", lambda: None)
    (tmp_path / "out.json").write_text("{}")
    seals.seal([tmp_path / "out.json"], "evaluate")
    with pytest.raises(SystemExit), stage(job(tmp_path, run=run)):
        raise InputError("something else")
    assert not seals.is_sealed(tmp_path / "out.json")
