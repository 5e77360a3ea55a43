"""Tables in files: every digit and every id survives, and what is damaged is refused."""

import numpy as np
import pandas as pd
import pytest

from epic.core.files import InputError
from epic.core.tables import read_table, write_table

ODD = [
    "NA",
    "nan",
    "null",
    "None",
    "007",
    "7",
    "1e5",
    "1e05",
    "1_000",
    "True",
    "-",
    '"q"',
    "'",
    "#q",
    "q,1",
    "Zürich",
    "日本",
]


def read(path, dtype="float64"):
    return read_table(path, "things", keys=["query_id"], number="RR@10", dtype=dtype)


def written(tmp_path, text):
    (tmp_path / "t.tsv").write_bytes(text.encode())
    return tmp_path / "t.tsv"


def test_ids_stay_as_they_are(tmp_path):
    frame = pd.DataFrame({"RR@10": np.arange(len(ODD)) / 7}, index=pd.Index(ODD, name="query_id"))
    write_table(frame, tmp_path / "t.tsv")
    found = read(tmp_path / "t.tsv")
    assert list(found.index) == ODD and found["RR@10"].tolist() == frame["RR@10"].tolist()
    assert [line.split("\t")[0] for line in (tmp_path / "t.tsv").read_text().splitlines()[1:]] == ODD


def test_every_digit_survives_and_is_written_as_python_writes_it(tmp_path):
    drawn = np.random.default_rng(1).integers(0, 2**63, 20_000, dtype=np.uint64).view(np.float64)
    values = [
        0.0,
        -0.0,
        1.0,
        0.1 + 0.2,
        5e-324,
        1e-5,
        1e16,
        *(1 / rank for rank in range(1, 1001)),
        *drawn[np.isfinite(drawn)].tolist(),
    ]
    frame = pd.DataFrame({"RR@10": values}, index=pd.Index([f"q{i}" for i in range(len(values))], name="query_id"))
    write_table(frame, tmp_path / "t.tsv")
    lines = [f"{query_id}\t{value!r}" for query_id, value in zip(frame.index, values, strict=True)]
    assert (tmp_path / "t.tsv").read_text() == "\n".join(["query_id\tRR@10", *lines]) + "\n"
    assert [repr(value) for value in read(tmp_path / "t.tsv")["RR@10"].tolist()] == [repr(value) for value in values]


def test_columns_are_known_by_their_names(tmp_path):
    found = read(written(tmp_path, "query_id\tAP\tRR@10\nb\t0.25\t0.5\na\t0\t1\n"))
    assert found["RR@10"].to_dict() == {"b": 0.5, "a": 1.0} and list(found) == ["AP", "RR@10"] and list(found.index) == ["b", "a"]


def test_one_row_is_a_table(tmp_path):
    assert read(written(tmp_path, "query_id\tRR@10\nq\t0.5\n"))["RR@10"].to_dict() == {"q": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "query_id\tRR@10\n",  # no rows
        "query_id\tnDCG@10\nq\t0.5\n",  # without the measure that all tables have
        "query\tRR@10\nq\t0.5\n",
        "RR@10\tquery_id\n0.5\tq\n",
        "0.5\t0.25\n",
        "query_id\tRR@10\tAP\nq\t0.5\n",  # too short
        "query_id\tRR@10\tAP\nq\t0.5\t0.5\nr\t0.5\n",
        "query_id\tRR@10\nq\t0.5\t0.5\n",  # too long, in the first line and in a later one
        "query_id\tRR@10\n7\t0.5\t0.5\n8\t0.25\t0.5\n",
        "query_id\tRR@10\nq\t0.5\nr\t0.5\t0.5\n",
        "query_id\tRR@10\nq\t0.5\n\n",  # an empty line
        "query_id\tRR@10\nq\t0.5\n\nr\t0.5\n",
        "query_id\tRR@10\nq\t\n",  # no number
        "query_id\tRR@10\nq\tbest\n",
        "query_id\tRR@10\nq\tNA\n",
        "query_id\tRR@10\nq\tnan\n",
        "query_id\tRR@10\nq\tinf\n",
        "query_id\tRR@10\nq\t0.5\nr\t0.63092",  # cut off within a number
        "query_id\tRR@10\nq\t0.5\nr\t0.5\nq\t0.25\n",  # a query twice
        "query_id\tRR@10\n\t0.5\n",  # no name
        "query_id\tRR@10\nq r\t0.5\n",
        "query_id\tRR@10\nq\x01\t0.5\n",
        "query_id\tRR@10\nq\u00a0\t0.5\n",
        "query_id RR@10\nq 0.5\n",
        "query_id\tRR@10\tRR@10\nq\t0.5\t0.25\n",  # a column twice
        "query_id\tRR@10\t\nq\t0.5\t0.25\n",
        "<html>\n",
    ],
)
def test_what_is_no_such_table_is_refused(tmp_path, text):
    with pytest.raises(InputError, match=r"t\.tsv: not a table of things \(.+\); make it again"):
        read(written(tmp_path, text))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "t.tsv").write_bytes(b"query_id\tRR@10\n\xff\xfe\t0.5\n")
    with pytest.raises(InputError, match=r"t\.tsv: not a table of things"):
        read(tmp_path / "t.tsv")


def test_a_number_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a table of things"):
        read(written(tmp_path, f"query_id\tRR@10\nq\t{10**30}\n"), "int64")


def test_a_failure_leaves_no_half_table(tmp_path):
    frame = pd.DataFrame({"RR@10": [0.5, 0.5]}, index=pd.Index(["q", "a\tb"], name="query_id"))
    with pytest.raises(Exception, match="escape"):  # an id with a tab cannot be written
        write_table(frame, tmp_path / "t.tsv")
    assert not list(tmp_path.iterdir())


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.tsv"):
        read(tmp_path / "absent.tsv")
