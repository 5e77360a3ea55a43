"""Document ids of a store: numbers without a table, anything else in a table that is searched where it lies."""

import numpy as np
import pytest

from epic.core.files import InputError
from epic.vectors.store_ids import IdWriter, Named, Numbered


def written(folder, ids, start=0, size=3):
    writer = IdWriter(folder, start)
    for place in range(0, len(ids), size):
        writer.add(ids[place : place + size])
    return writer, writer.close()


def test_numbers_need_no_table(tmp_path):
    writer, width = written(tmp_path, [str(10 + row) for row in range(7)], start=10)
    assert width is None and writer.count == 7 and list(tmp_path.iterdir()) == []
    assert Numbered(10, 7).of(slice(2, 4)) == ["12", "13"]


@pytest.mark.parametrize(
    ("doc_id", "row"),
    [("10", 0), ("16", 6), ("9", -1), ("17", -1), ("", -1), ("0", -1), ("-10", -1), ("+10", -1), ("010", -1), (" 10", -1),
     ("10 ", -1), ("1o", -1), ("x", -1), ("10\n11", -1), ("१०", -1), ("10.0", -1), ("99999999999999999999999999", -1)],
)  # fmt: skip
def test_only_the_number_itself_is_the_id_of_a_row(doc_id, row):
    assert Numbered(10, 7).rows([doc_id]).tolist() == [row]
    assert Numbered(10, 7).rows(["12", doc_id, "13"]).tolist() == [2, row, 3]


def test_zero_is_a_number_and_no_ids_are_no_rows():
    assert Numbered(0, 5).rows(["0", "4", "00"]).tolist() == [0, 4, -1]
    assert Numbered(0, 5).rows([]).tolist() == []


def test_any_ids_are_found_where_they_are_and_no_others(tmp_path):
    draw = np.random.default_rng(0)
    ids = list(dict.fromkeys("".join(draw.choice(list("aäß漢0-"), draw.integers(1, 9))) for _ in range(500)))
    writer, width = written(tmp_path, ids, size=64)
    assert width == max(len(doc_id.encode()) for doc_id in ids) and writer.count == len(ids)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.bytes", "order.i64"]
    table = Named(tmp_path, len(ids), width)
    shuffled = draw.permutation(len(ids))
    assert table.rows([ids[row] for row in shuffled]).tolist() == shuffled.tolist()
    assert table.of(slice(3, 6)) == ids[3:6]
    absent = ["", "zzz", ids[0] + "x" * width, ids[0][:-1] + "~", "\0"]
    assert table.rows([ids[7], *absent]).tolist() == [7] + [-1] * len(absent)
    assert table.rows([]).tolist() == []


def test_ids_that_stop_being_numbers_are_all_in_the_table(tmp_path):
    ids = ["0", "1", "2", "3", "x", "5"]
    _, width = written(tmp_path, ids, size=2)
    assert Named(tmp_path, 6, width).of(slice(0, 6)) == ids


def test_an_id_given_twice_is_refused(tmp_path):
    with pytest.raises(InputError, match="document id b is given twice"):
        written(tmp_path, ["b", "a", "c", "b"])


@pytest.mark.parametrize("doc_id", ["", "a\nb", "a\0b"])
def test_an_id_that_cannot_be_stored_is_refused(tmp_path, doc_id):
    with pytest.raises(InputError, match="cannot be stored"):
        written(tmp_path, ["a", doc_id])


def test_damaged_ids_and_a_damaged_order_are_named(tmp_path):
    _, width = written(tmp_path, ["x", "y", "z"])
    assert Named(tmp_path, 3, width).rows(["z"]).tolist() == [2]
    for order in ([9, 9, 9], [0, 1, 2**40], [-1, -1, -1]):
        np.array(order, np.int64).tofile(tmp_path / "order.i64")
        with pytest.raises(InputError, match=r"order\.i64: the content has changed"):
            Named(tmp_path, 3, width).rows(["x", "y", "z"])
    (tmp_path / "ids.bytes").write_bytes(b"x\xffz")
    with pytest.raises(InputError, match=r"ids\.bytes: the content has changed"):
        Named(tmp_path, 3, width).of(slice(0, 3))
