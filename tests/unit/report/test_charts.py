"""Charts: what is drawn, and that it is the same each time."""

import json
from contextlib import nullcontext

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from epic.core.visible import one_line
from epic.report.charts import cutoffs, distinct, pruning, published_cutoffs, series_of, styles, titles, together
from epic.report.figures import drawable, training_figure
from epic.training.history import Iteration, write_history
from tests.charts import ROWS, record
from tests.hostile import TEXTS


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


@pytest.fixture
def files(tmp_path):
    (tmp_path / "table.json").write_text(json.dumps({"rows": ROWS, "headline": "test", "measure": "RR@10"}))
    (tmp_path / "cutoff.json").write_text(json.dumps({"cutoff": 2, "curve": [0.4, 0.5, 0.45]}))
    claims = [{"id": "cutoff-bm25", "published": 99}, {"id": "hours", "published": 14}]
    (tmp_path / "claims.json").write_text(json.dumps({"claims": claims}))
    return tmp_path


def test_every_chart_is_the_same_bytes_each_time(files):
    published = published_cutoffs(files / "claims.json")
    assert published == {"bm25": 99}
    curves = {"paper": {"bm25": files / "cutoff.json"}}
    draw = {
        "pruning": lambda outs: pruning(files / "table.json", outs),
        "cutoffs": lambda outs: cutoffs(curves, published, "RR@10", outs),
    }
    for name, chart in draw.items():
        for turn in ("one", "two"):
            chart([files / f"{name}-{turn}.png", files / f"{name}-{turn}.pdf"])
        for kind, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
            one, two = (files / f"{name}-{turn}.{kind}" for turn in ("one", "two"))
            assert one.read_bytes() == two.read_bytes() and one.read_bytes().startswith(start), name


def test_nothing_published_and_nothing_run_is_drawn_empty(tmp_path):
    rows = [record("full", "model", "bm25", "paper", "full", None, None, None, None)]
    (tmp_path / "table.json").write_text(json.dumps({"rows": rows, "headline": "test", "measure": "RR@10"}))
    pruning(tmp_path / "table.json", [tmp_path / "b.png"])
    assert (tmp_path / "b.png").exists()


@pytest.mark.parametrize("text", [*TEXTS, r"$\frac{", "$a$ and $b$", r"100 \$ $", "_private"])
def test_a_text_is_drawn_as_it_stands(text):
    drawn_text, is_formula = Text(text=drawable(text))._preprocess_math(drawable(text))
    assert not is_formula and drawn_text.strip() == one_line(text) and not drawable(text).startswith("_")


@pytest.mark.parametrize(("measure", "said"), [("RR@10", "MRR@10"), ("Rprec", "R-prec"), ("P@5", "P@5")])
def test_axes_name_the_measures_of_the_experiment(files, monkeypatch, measure, said):
    seen = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: seen.append(self))
    monkeypatch.setattr("epic.report.figures.replacing", lambda out: nullcontext(out))
    (files / "table.json").write_text(json.dumps({"rows": ROWS, "headline": "test", "measure": measure}))
    pruning(files / "table.json", [files / "p.png"])
    cutoffs({"paper": {"bm25": files / "cutoff.json"}}, {}, measure, [files / "c.png"])
    write_history([Iteration(1, 8, 0.7, 0.5, 0.3, 1.0)], files / "history.tsv")
    training_figure(files / "history.tsv", "title", measure, [files / "t.png"])
    labels = [[axes.get_ylabel() for axes in figure.axes] for figure in seen]
    assert labels == [[said, said], [f"{said}, tuning queries"], ["", f"validation {said}"]]
