"""Effectiveness against milliseconds: who is drawn how, and that no name covers another."""

import json

import pytest
from matplotlib.figure import Figure

from epic.report.figures import drawable
from epic.report.tradeoff import FEWER, elsewhere, name_of, pareto, points_of, tradeoff
from tests.charts import ROWS, many_rows, record
from tests.hostile import ALL


@pytest.fixture
def seen(monkeypatch):
    """The figure that is drawn, as it was when it was written."""
    found = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *given, **options: found.append(self) or save(self, *given, **options))
    return found


def drawn_of(rows, folder):
    (folder / "table.json").write_text(json.dumps({"rows": rows, "headline": "test", "measure": "RR@10"}))
    tradeoff(folder / "table.json", [folder / "t.png", folder / "t.pdf"])


def test_the_pareto_front_by_hand():
    points = [(1, 0.1), (2, 0.3), (2, 0.2), (3, 0.3), (4, 0.4), (5, 0.35)]
    assert pareto(points) == [(1, 0.1), (2, 0.3), (4, 0.4)] and pareto([]) == []


def test_no_name_covers_another_or_leaves_its_panel_however_close_the_systems_are(tmp_path, seen):
    drawn_of(many_rows(), tmp_path)
    for axes in seen[0].axes:
        boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
        assert len(boxes) >= 12
        assert not [(one, two) for place, one in enumerate(boxes) for two in boxes[:place] if one.overlaps(two)]
        marks = [
            axes.transData.transform(point)
            for line in axes.get_lines()
            for point in line.get_xydata()
            if line.get_marker() != "None"
        ]
        assert not [mark for mark in marks for box in boxes if box.contains(*mark)]
        assert all(axes.get_window_extent().padded(1).contains(*corner) for box in boxes for corner in (box.min, box.max))


def test_kinds_of_systems_have_marks_of_their_own_and_a_slow_one_is_marked(tmp_path, seen):
    drawn_of(many_rows(), tmp_path)
    left, right = seen[0].axes
    marks = {
        line.get_label(): (line.get_marker(), line.get_markerfacecolor())
        for line in right.get_lines()
        if line.get_marker() != "None"
    }
    assert len(set(marks.values())) == len(marks) == 6 + 3  # a line for each model and first stage, and three kinds
    assert marks["first stage"] == ("s", "black") and marks["other re-ranker"] == (">", "0.4") and marks[FEWER] == (">", "white")
    assert "BERT-LARGE: 50 queries" in [text.get_text() for text in right.texts]
    assert "BERT-LARGE" in [text.get_text() for text in left.texts] and FEWER not in {
        line.get_label() for line in left.get_lines()
    }


def test_a_row_that_has_no_value_on_the_headline_query_set_is_shown_with_its_own_and_is_no_part_of_the_front(tmp_path, seen):
    other = record("bert", "run-file", ours=0.9, ours_ms=1.0) | {"ours_headline": None, "query_set": "dev-small"}
    assert elsewhere(other, "ours_headline") and not elsewhere(other, "published") and not elsewhere(ROWS[5], "ours_headline")
    assert (
        name_of(other | {"ms_queries": 5}, "ours_headline") == "BERT: 5 queries, dev-small"
        and name_of(other, "published") == "BERT"
    )
    assert points_of([other, ROWS[5]], "ours_headline", "ours_ms") == {"bert": (1.0, 0.9)}
    drawn_of([*ROWS, other], tmp_path)
    right = seen[0].axes[1]
    (front,) = [line for line in right.get_lines() if line.get_label() == "Pareto front"]
    assert max(front.get_ydata()) == 0.5 and "BERT: dev-small" in [text.get_text() for text in right.texts]


def test_it_is_the_same_bytes_each_time_and_can_be_empty(tmp_path, seen):
    drawn_of(many_rows(), tmp_path)
    before = {kind: (tmp_path / f"t.{kind}").read_bytes() for kind in ("png", "pdf")}
    drawn_of(many_rows(), tmp_path)
    assert before == {kind: (tmp_path / f"t.{kind}").read_bytes() for kind in ("png", "pdf")}
    drawn_of([record("full", "model", "bm25", "paper", "full", None, None, None, None)], tmp_path)
    assert [axes.texts[0].get_text() for axes in seen[-1].axes] == ["no system has both numbers"] * 2


def test_whatever_a_label_says_it_is_written_beside_its_point(tmp_path, seen):
    label = f"_{ALL} $\\frac{{"
    drawn_of([ROWS[0] | {"label": label}, *ROWS[1:5], ROWS[5] | {"label": label}], tmp_path)
    assert drawable(label) in [text.get_text() for text in seen[0].axes[0].texts]


def test_the_axis_and_a_mark_name_the_measure_of_the_table(tmp_path, seen):
    other = record("bert", "run-file", ours=0.9, ours_ms=1.0) | {"ours_headline": None, "query_set": "dev-small"}
    for measure, said in (("RR@10", "MRR@10"), ("AP", "MAP")):
        (tmp_path / "table.json").write_text(json.dumps({"rows": [*ROWS, other], "headline": "test", "measure": measure}))
        tradeoff(tmp_path / "table.json", [tmp_path / "t.png"])
        assert [axes.get_ylabel() for axes in seen[-1].axes] == [said] * 2
        (legend,) = seen[-1].legends
        assert [text.get_text() for text in legend.get_texts()][-2:] == [f"{said} of another query set", "Pareto front"]
