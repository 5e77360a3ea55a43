"""Time by stage: what is drawn where, beside what was done before."""

import json

import pytest
from matplotlib.figure import Figure

from epic.report.figures import drawable
from epic.report.stages import AT_QUERY_TIME, BEFORE, done_of, duration, lanes_of, panels_of, shortened, stages
from tests.charts import many_rows, record
from tests.hostile import ALL

STAGES = {"beside": [["retrieve", "load"], ["query_vector"]], "after": ["score"]}
READER = {"beside": [["retrieve"]], "after": ["load", "score"]}


def test_what_runs_at_once_has_a_lane_of_its_own_and_what_follows_begins_when_the_longest_has_ended():
    ms = {"retrieve": 2.0, "load": 1.0, "query_vector": 5.0, "score": 0.5, "total": 5.5}
    assert lanes_of(ms, STAGES) == [("retrieve", 0, 0.0), ("load", 0, 2.0), ("query_vector", 1, 0.0), ("score", 0, 5.0)]
    assert lanes_of({"retrieve": 2.0, "total": 2.0}, {"beside": [["retrieve"]], "after": []}) == [("retrieve", 0, 0.0)]


def test_no_bar_is_too_short_to_be_seen_and_panels_are_few_and_parted_where_times_differ_most():
    totals = {row["id"]: row["ours_ms"] for row in many_rows()}
    fast, slow = panels_of(totals)
    assert slow == ["duet-v2", "rescored", "bert-large"] and len(fast) == 30 and fast[0] == "bm25"  # in the table's order
    for panel in (fast, slow):
        assert max(totals[row] for row in panel) <= 20 * min(totals[row] for row in panel)
    assert panels_of({"a": 5.0, "b": 100.0, "c": 5.0}) == [["a", "b", "c"]] and panels_of({"a": 1.0, "b": 21.0}) == [["a"], ["b"]]
    assert [len(panel) for panel in panels_of({str(step): 1.5**step for step in range(40)})] == [8, 8, 8, 8, 8]


def test_what_was_done_before_is_said_with_its_time_where_that_was_measured():
    costs = {"paper": {"passages": 8_841_823, "passages_per_second": 180.0}}
    done = [{"says": "queries predicted"}, {"says": "passages encoded", "model": "paper"}]
    assert done_of(done, costs) == ["queries predicted", "passages encoded, 14 hours"] and done_of([], costs) == []
    assert [duration(seconds) for seconds in (0.5, 21, 119, 121, 7201, 864_000)] == [
        "0.5 seconds", "21 seconds", "119 seconds", "2 minutes", "2 hours", "240 hours"
    ]  # fmt: skip


@pytest.fixture
def seen(monkeypatch):
    found, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *given, **options: found.append(self) or save(self, *given, **options))
    return found


def write(folder, rows, stages_of=lambda row: READER if row["keep"] is None else STAGES, **more):
    latencies = {}
    for row in rows:
        names = [*(name for lane in stages_of(row)["beside"] for name in lane), *stages_of(row)["after"]]
        ms = {name: {"mean": row["ours_ms"] / len(names)} for name in names} | {"total": {"mean": row["ours_ms"]}}
        latencies[row["id"]] = folder / f"{row['id']}.json"
        fewer = {"instead_of": 1000, "queries": 50, "reranked": 1000} if "ms_queries" in row else {}
        latencies[row["id"]].write_text(json.dumps({"ms": ms, "stages": stages_of(row)} | fewer | more))
    (folder / "table.json").write_text(json.dumps({"rows": rows}))
    (folder / "costs.json").write_text(json.dumps({"passages": 336, "passages_per_second": 16.0}))
    before = {row["id"]: [{"says": "passages encoded", "model": row["model"]}] for row in rows if row["keep"]}
    stages(folder / "table.json", latencies, before, {"paper": folder / "costs.json"}, [folder / "s.png", folder / "s.pdf"])


def test_every_system_has_its_name_what_was_done_before_its_stages_and_its_time(tmp_path, seen):
    write(tmp_path, many_rows())
    left, right, left_slow, right_slow = seen[0].axes
    assert left.get_title() == BEFORE and right.get_title() == AT_QUERY_TIME
    names = [label.get_text() for axes in (left, left_slow) for label in axes.get_yticklabels()]
    assert len(names) == 33 and names[-3:] == ["DUET-V2", "RESCORED", "BERT-LARGE"]
    said = [text.get_text() for text in left.texts]
    assert said[0] == "only the index" and said[4] == "passages encoded, 21 seconds" and said[15] == "passages encoded"
    assert [text.get_text() for text in right_slow.texts] == [
        "410 ms",
        "1,080 ms (1000 hits, 50 queries)",
        "5,350 ms (1000 hits, 50 queries)",
    ]
    assert len(right_slow.patches) == 3 * 3 and len(right.patches) == 6 * 3 + 24 * 4  # a bar a stage
    (legend,) = seen[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["retrieve", "load", "score", "query vector", "total"]
    looks = {(patch.get_facecolor(), patch.get_hatch()) for patch in legend.get_patches()}
    assert len(looks) == 4  # told apart without colour


def test_no_text_covers_another(tmp_path, seen):
    write(tmp_path, many_rows())
    seen[0].draw_without_rendering()
    boxes = [
        text.get_window_extent() for axes in seen[0].axes for text in (*axes.texts, *axes.get_yticklabels()) if text.get_text()
    ]
    assert not [(one, two) for place, one in enumerate(boxes) for two in boxes[:place] if one.overlaps(two)]
    assert all(seen[0].bbox.padded(1).contains(*corner) for box in boxes for corner in (box.min, box.max))


def test_it_is_the_same_bytes_each_time(tmp_path):
    write(tmp_path, many_rows())
    before = {kind: (tmp_path / f"s.{kind}").read_bytes() for kind in ("png", "pdf")}
    write(tmp_path, many_rows())
    assert before == {kind: (tmp_path / f"s.{kind}").read_bytes() for kind in ("png", "pdf")}


def test_whatever_a_label_or_a_stage_is_called_it_is_drawn(tmp_path, seen):
    label = f"_{ALL} $\\frac{{"
    write(tmp_path, [record("bm25", "first-stage") | {"label": label}], lambda row: {"beside": [["retrieve"]], "after": ["$x_y"]})
    assert seen[0].axes[0].get_yticklabels()[0].get_text() == drawable(shortened(label))
    assert shortened("x" * 64) == "x" * 64 and shortened("x" * 65) == "x" * 63 + "…"
    assert drawable("$x y") in [text.get_text() for text in seen[0].legends[0].get_texts()]


def test_where_nothing_was_timed_the_figure_says_so(tmp_path, seen):
    write(tmp_path, [])
    (axes,) = seen[0].axes
    assert [text.get_text() for text in axes.texts] == ["nothing was timed"] and (tmp_path / "s.pdf").stat().st_size > 1000
