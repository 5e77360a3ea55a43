"""Charts: what is drawn, and that it is the same each time."""

import json

import pytest
from matplotlib.text import Text

from epic.core.visible import one_line
from epic.report.charts import (
    cutoffs,
    distinct,
    lanes_of,
    pareto,
    pruning,
    published_cutoffs,
    series_of,
    stages,
    styles,
    titles,
    together,
    tradeoff,
)
from epic.report.figures import drawable
from tests.hostile import ALL, TEXTS

STAGE = {"mean": 2.0, "interval": [1.0, 3.0], "p50": 2.0, "p95": 3.0, "p99": 3.0}


def record(name, kind, stage=None, model=None, keep=None, published=0.3, ours=0.4, published_ms=50, ours_ms=10.0):
    found = {"id": name, "label": name.upper(), "kind": kind, "first_stage": stage, "model": model, "keep": keep}
    found |= {"published": published, "ours": ours, "ours_headline": ours, "published_ms": published_ms, "ours_ms": ours_ms}
    return found | {"query_set": "test" if ours else None, "because": ["other collection"] if ours else []}


ROWS = [
    record("bm25", "first-stage", "bm25", published=0.2, ours=0.25, published_ms=21, ours_ms=5.0),
    record("full", "model", "bm25", "paper", "full"),
    record("r100", "model", "bm25", "paper", 100, published=0.24, published_ms=None),
    record("other", "model", "bm25", "released", "full", ours=0.5),
    record("other100", "model", "bm25", "released", 100, published=0.24, published_ms=None),
    record("tk", "published-only", published=0.31, published_ms=445, ours=None, ours_ms=None),
]


def test_the_pareto_front_by_hand():
    points = [(1, 0.1), (2, 0.3), (2, 0.2), (3, 0.3), (4, 0.4), (5, 0.35)]
    assert pareto(points) == [(1, 0.1), (2, 0.3), (4, 0.4)] and pareto([]) == []


def test_series_are_rows_of_one_model_on_one_first_stage():
    assert {name: len(rows) for name, rows in series_of(ROWS).items()} == {"BM25": 1, "paper on bm25": 2, "released on bm25": 2}
    looks = styles(series_of(ROWS))
    assert len({(look["marker"], look["ls"]) for look in looks.values()}) == 3  # told apart without colour
    assert list(distinct(series_of(ROWS), "published")) == ["BM25", "paper on bm25"]  # published values are drawn once
    assert len(distinct(series_of(ROWS), "ours_headline")) == 3


def test_labels_that_would_overlap_are_written_as_one():
    assert together([((106, 0.273), "full"), ((104, 0.273), 2000), ((48, 0.272), 1000)]) == [
        ((106, 0.273), "full, 2000"),
        ((48, 0.272), "1000"),
    ]


def test_a_panel_of_other_data_says_so():
    assert titles({"rows": ROWS, "headline": "test"}) == ("published", "ours, on test (not comparable)")
    assert titles({"rows": [ROWS[0] | {"because": ["other query set"]}], "headline": "test"}) == ("published", "ours, on test")


STAGES = {"beside": [["retrieve", "load"], ["query_vector"]], "after": ["score"]}


def test_what_runs_at_once_has_a_lane_of_its_own_and_what_follows_begins_when_the_longest_has_ended():
    ms = {"retrieve": 2.0, "load": 1.0, "query_vector": 5.0, "score": 0.5, "total": 5.5}
    assert lanes_of(ms, STAGES) == [("retrieve", 0, 0.0), ("load", 0, 2.0), ("query_vector", 1, 0.0), ("score", 0, 5.0)]
    assert lanes_of({"retrieve": 2.0, "total": 2.0}, {"beside": [["retrieve"]], "after": []}) == [("retrieve", 0, 0.0)]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "table.json").write_text(json.dumps({"rows": ROWS, "headline": "test"}))
    (tmp_path / "cutoff.json").write_text(json.dumps({"cutoff": 2, "curve": [0.4, 0.5, 0.45]}))
    timed = {stage: STAGE for stage in ("retrieve", "load", "query_vector", "score", "total")}
    (tmp_path / "latency.json").write_text(json.dumps({"ms": timed, "stages": STAGES}))
    claims = [{"id": "cutoff-bm25", "published": 99}, {"id": "hours", "published": 14}]
    (tmp_path / "claims.json").write_text(json.dumps({"claims": claims}))
    return tmp_path


def test_every_chart_is_the_same_bytes_each_time(files):
    published = published_cutoffs(files / "claims.json")
    assert published == {"bm25": 99}
    curves, latencies = (
        {"paper": {"bm25": files / "cutoff.json"}},
        {"bm25": files / "latency.json", "full": files / "latency.json"},
    )
    draw = {
        "tradeoff": lambda outs: tradeoff(files / "table.json", outs),
        "pruning": lambda outs: pruning(files / "table.json", outs),
        "cutoffs": lambda outs: cutoffs(curves, published, outs),
        "stages": lambda outs: stages(files / "table.json", latencies, outs),
    }
    for name, chart in draw.items():
        for turn in ("one", "two"):
            chart([files / f"{name}-{turn}.png", files / f"{name}-{turn}.pdf"])
        for kind, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
            one, two = (files / f"{name}-{turn}.{kind}" for turn in ("one", "two"))
            assert one.read_bytes() == two.read_bytes() and one.read_bytes().startswith(start), name


def test_nothing_published_and_nothing_run_is_drawn_empty(tmp_path):
    rows = [record("full", "model", "bm25", "paper", "full", None, None, None, None)]
    (tmp_path / "table.json").write_text(json.dumps({"rows": rows, "headline": "test"}))
    tradeoff(tmp_path / "table.json", [tmp_path / "a.png"])
    pruning(tmp_path / "table.json", [tmp_path / "b.png"])
    assert (tmp_path / "a.png").exists() and (tmp_path / "b.png").exists()


@pytest.mark.parametrize("text", [*TEXTS, r"$\frac{", "$a$ and $b$", r"100 \$ $", "_private"])
def test_a_text_is_drawn_as_it_stands(text):
    drawn_text, is_formula = Text(text=drawable(text))._preprocess_math(drawable(text))
    assert not is_formula and drawn_text.strip() == one_line(text) and not drawable(text).startswith("_")


def test_whatever_a_label_says_the_figures_are_drawn_and_the_legend_has_it(tmp_path, monkeypatch):
    legends = []
    monkeypatch.setattr("matplotlib.figure.Figure.legend", lambda self, handles, labels, **options: legends.append(list(labels)))
    label = f"_{ALL} $\\frac{{"
    rows = [ROWS[0] | {"label": label}, *ROWS[1:5], ROWS[5] | {"label": label}]
    (tmp_path / "table.json").write_text(json.dumps({"rows": rows, "headline": "test"}))
    latency = {"ms": {"retrieve": STAGE, "$x": STAGE, "total": STAGE}, "stages": {"beside": [["retrieve"]], "after": ["$x"]}}
    (tmp_path / "l.json").write_text(json.dumps(latency))
    tradeoff(tmp_path / "table.json", [tmp_path / "t.png", tmp_path / "t.pdf"])
    stages(tmp_path / "table.json", {"bm25": tmp_path / "l.json"}, [tmp_path / "s.png", tmp_path / "s.pdf"])
    assert drawable(label) in legends[0] and all(
        (tmp_path / name).stat().st_size > 5000 for name in ("t.png", "t.pdf", "s.png", "s.pdf")
    )
