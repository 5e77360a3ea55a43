"""The spread over seeds: means, their standard deviation, and runs that do not belong together."""

import pytest

from epic.__main__ import main
from epic.core import seals
from epic.core.files import InputError
from epic.evaluation.seeds import spread


def values(tmp_path, name, *per_query, measures=("RR@10", "AP")):
    """Per-query values, the same for each measure."""
    lines = ["\t".join(("query_id", *measures)), *(f"{query_id}\t{value}\t{value / 2}" for query_id, value in per_query)]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path / name


def test_means_and_their_spread(tmp_path, capsys):
    runs = [
        values(tmp_path, "42.tsv", ("a", 1.0), ("b", 0.0)),
        values(tmp_path, "43.tsv", ("a", 1.0), ("b", 0.2)),
        values(tmp_path, "44.tsv", ("b", 0.4), ("a", 1.0)),  # another order of the same queries
    ]
    assert main(["spread", *map(str, runs)]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["2", "queries", "RR@10", "AP"] and len({len(line) for line in (header, *lines)}) == 1
    assert [line.rsplit(maxsplit=2)[1:] for line in lines] == [
        ["0.5000", "0.2500"],
        ["0.6000", "0.3000"],
        ["0.7000", "0.3500"],
        ["0.6000", "0.3000"],  # mean
        ["0.1000", "0.0500"],  # standard deviation: of a sample, so divided by 2 and not by 3
        ["0.5000", "0.2500"],
        ["0.7000", "0.3500"],
    ]


def test_measures_are_known_by_their_names_and_any_name_of_a_file_is_shown_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mean").write_text("query_id\tRR@10\tAP\n007\t1.0\t0.5\n")  # one query is enough
    (tmp_path / ("ü" * 60)).write_text("query_id\tAP\tRR@10\n007\t0.3\t0.4\n")
    header, *lines = spread(["mean", "ü" * 60]).splitlines()
    assert header.split() == ["1", "queries", "RR@10", "AP"] and lines[1].split() == ["ü" * 60, "0.4000", "0.3000"]
    assert [line.split() for line in (lines[0], lines[2])] == [["mean", "1.0000", "0.5000"], ["mean", "0.7000", "0.4000"]]


def test_whatever_was_measured_is_spread(tmp_path):
    runs = [
        values(tmp_path, name, ("a", 1.0), ("b", share), measures=("Rprec", "P@5")) for name, share in (("1", 0.0), ("2", 0.5))
    ]
    header, first, second, *_ = spread(runs).splitlines()
    assert header.split() == ["2", "queries", "Rprec", "P@5"]
    assert first.split()[1:] == ["0.5000", "0.2500"] and second.split()[1:] == ["0.7500", "0.3750"]


def test_runs_that_do_not_belong_together(tmp_path, capsys):
    one = values(tmp_path, "one.tsv", ("a", 1.0), ("b", 0.0))
    with pytest.raises(InputError, match="two or more runs, not 1"):
        spread([one])
    with pytest.raises(InputError, match="named twice"):
        spread([one, one])
    with pytest.raises(InputError, match=r"other\.tsv and .*one\.tsv were not evaluated on the same queries"):
        spread([one, values(tmp_path, "other.tsv", ("a", 1.0), ("c", 0.0))])
    with pytest.raises(InputError, match="by the same measures"):
        spread([one, values(tmp_path, "graded.tsv", ("a", 1.0), ("b", 0.0), measures=("RR@10", "AP(rel=2)"))])
    assert main(["spread", str(one), str(tmp_path / "absent.tsv")]) == 1
    assert "absent.tsv" in capsys.readouterr().err


def test_values_that_were_cut_off_since_they_were_written_are_refused(tmp_path, capsys):
    paths = [values(tmp_path, name, ("1", 1), ("2", 0)) for name in ("a.tsv", "b.tsv")]
    seals.seal([paths[1]], "evaluate")
    paths[1].write_text("".join(paths[1].read_text().splitlines(keepends=True)[:-1]))
    assert main(["spread", *map(str, paths)]) == 1 and "were written by the stage evaluate" in capsys.readouterr().err
