"""The course of a training run survives its file; the first of equal validations is the best."""

import pytest

from epic.core.files import InputError
from epic.training.history import Iteration, best_of, read_histories, read_history, write_histories, write_history


def test_the_history_survives_its_file(tmp_path):
    history = [Iteration(1, 8, 0.7, 0.5, 0.25, 1.5), Iteration(2, 16, 0.6, 0.75, 1 / 3, 1.4)]
    write_history(history, tmp_path / "history.tsv")
    header = (tmp_path / "history.tsv").read_text().splitlines()[0]
    assert header.split("\t") == ["iteration", "triples", "loss", "accuracy", "validation", "seconds"]
    assert read_history(tmp_path / "history.tsv") == history
    assert best_of(history).iteration == 2
    (tmp_path / "history.tsv").write_text("other\n")
    with pytest.raises(InputError, match="not a training history"):
        read_history(tmp_path / "history.tsv")


def test_the_first_of_equal_validations_is_the_best():
    history = [Iteration(place, 8 * place, 0.5, 0.5, value, 1.0) for place, value in enumerate([0.2, 0.9, 0.9, 0.1], start=1)]
    assert best_of(history).iteration == 2 and best_of(history[-1:]).iteration == 4


def test_numbers_survive_to_the_last_bit_and_with_their_kind(tmp_path):
    history = [Iteration(1, 512, 1 / 3, 0.1 + 0.2, 5e-324, 0.0)]
    write_history(history, tmp_path / "h.tsv")
    (found,) = read_history(tmp_path / "h.tsv")
    assert found == history[0] and [type(value) for value in found] == [int, int, float, float, float, float]


def test_a_model_that_was_not_trained_has_a_header_alone(tmp_path):
    write_history([], tmp_path / "h.tsv")
    assert (tmp_path / "h.tsv").read_text() == "iteration\ttriples\tloss\taccuracy\tvalidation\tseconds\n"
    assert read_history(tmp_path / "h.tsv") == []
    (tmp_path / "h.tsv").write_text("")
    with pytest.raises(InputError, match="not a training history"):
        read_history(tmp_path / "h.tsv")


@pytest.mark.parametrize(
    "line",
    ["2\t16\t0.7\t0.5\t0.25", "2\t16\tx\t0.5\t0.25\t1", "2\t16\tnan\t0.5\t0.25\t1", "2\t16\tinf\t0.5\t0.25\t1", "3\t16\t0.7\t0.5\t0.25\t1",
     "2\t8\t0.7\t0.5\t0.25\t1", "2\t16\t0.7\t1.5\t0.25\t1", "2\t16\t0.7\t0.5\t-0.25\t1", "2\t16\t0.7\t0.5\t0.25\t-1", "", "9" * 100_000 + "\t16\t0.7\t0.5\t0.25\t1"],
)  # fmt: skip
def test_a_line_that_does_not_follow_is_named(tmp_path, line):
    write_history([Iteration(1, 8, 0.7, 0.5, 0.25, 1.5)], tmp_path / "h.tsv")
    with (tmp_path / "h.tsv").open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(InputError, match=r"h\.tsv line 3: not of a training history .*make it again"):
        read_history(tmp_path / "h.tsv")


def test_the_histories_of_members_survive_their_file_and_a_single_one_is_written_as_ever(tmp_path):
    one, two = (
        [Iteration(1, 8, 0.7, 0.5, 0.25, 1.5), Iteration(2, 16, 0.6, 0.75, 0.5, 1.4)],
        [Iteration(1, 8, 0.5, 0.5, 0.25, 1.5)],
    )
    write_histories([one, two], tmp_path / "h.tsv")
    lines = (tmp_path / "h.tsv").read_text().splitlines()
    assert lines[0] == "member\titeration\ttriples\tloss\taccuracy\tvalidation\tseconds"
    assert [line.split("\t")[:3] for line in lines[1:]] == [["1", "1", "8"], ["1", "2", "16"], ["2", "1", "8"]]
    assert read_histories(tmp_path / "h.tsv") == [one, two]
    with pytest.raises(InputError, match=r"h\.tsv: the histories of 2 members, expected one history"):
        read_history(tmp_path / "h.tsv")
    write_histories([one], tmp_path / "single.tsv")
    write_history(one, tmp_path / "plain.tsv")
    assert (tmp_path / "single.tsv").read_bytes() == (tmp_path / "plain.tsv").read_bytes()
    assert read_histories(tmp_path / "plain.tsv") == [one] and (tmp_path / "plain.tsv").read_text().startswith(
        "iteration\ttriples"
    )


@pytest.mark.parametrize("members", [(2,), (1, 3), (1, 1, 2, 1), ("x",), (0,)])
def test_members_that_are_not_counted_from_1_are_refused(tmp_path, members):
    write_histories([[Iteration(1, 8, 0.7, 0.5, 0.25, 1.5)]] * 2, tmp_path / "h.tsv")
    header, line, _ = (tmp_path / "h.tsv").read_text().splitlines()
    places, lines = {}, []
    for member in members:
        places[member] = places.get(member, 0) + 1
        lines.append(f"{member}\t{places[member]}\t{8 * places[member]}\t" + line.split("\t", 3)[3])
    (tmp_path / "h.tsv").write_text("\n".join([header, *lines]) + "\n")
    with pytest.raises(InputError, match=rf"h\.tsv line {len(lines) + 1}: not of a training history .*make it again"):
        read_histories(tmp_path / "h.tsv")
