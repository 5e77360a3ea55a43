"""Figures: drawn from counts, and the same bytes each time."""

import pytest

from epic.core.files import InputError
from epic.report.figures import frequencies_figure, training_figure
from epic.training.history import Iteration, write_histories, write_history


def test_the_frequency_figure_is_an_image_and_the_same_bytes_each_time(tmp_path):
    (tmp_path / "f.tsv").write_text("value\tcount\n-0.1\t3\n0.0\t50\n0.1\t900\n1.2\t7\n")
    for name in ("one", "two"):
        frequencies_figure(tmp_path / "f.tsv", "title", [tmp_path / f"{name}.png", tmp_path / f"{name}.pdf"])
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    for kind in ("png", "pdf"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_a_model_that_was_not_trained_has_no_course_to_draw(tmp_path):
    write_history([], tmp_path / "history.tsv")
    with pytest.raises(InputError, match="was not trained"):
        training_figure(tmp_path / "history.tsv", "title", "RR@10", [tmp_path / "one.png"])


def test_the_training_figure_is_an_image_and_does_not_depend_on_the_clock(tmp_path):
    for name, seconds in (("one", 1.0), ("two", 2.0)):
        write_history([Iteration(i, 8 * i, 0.7 / i, 0.5, 0.3 + i / 10, seconds) for i in (1, 2, 3)], tmp_path / "history.tsv")
        training_figure(tmp_path / "history.tsv", "title", "RR@10", [tmp_path / f"{name}.png", tmp_path / f"{name}.pdf"])
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    for kind in ("png", "pdf"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_the_training_figure_shows_each_member(tmp_path):
    history = [Iteration(i, 8 * i, 0.7 / i, 0.5, 0.3 + i / 10, 1.0) for i in (1, 2, 3)]
    for name, histories in (("one", [history]), ("two", [history, history[:1]]), ("again", [history, history[:1]])):
        write_histories(histories, tmp_path / "history.tsv")
        training_figure(tmp_path / "history.tsv", "title", "RR@10", [tmp_path / f"{name}.png"])
    one, two, again = ((tmp_path / f"{name}.png").read_bytes() for name in ("one", "two", "again"))
    assert two == again != one and two.startswith(b"\x89PNG")
