"""The report: complete, self-contained, and safe whatever a text says."""

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from epic.core.visible import visible
from epic.latency.timings import write_latency
from epic.report.figures import drawn
from epic.report.report import SECTIONS, bullets, class_of, colored, figure, inline_code, number, overheads, passes, write_report
from tests.conftest import ROOT
from tests.hostile import ALL, LINES, QUOTES, unseen
from tests.latency import ABOUT, total

PAGE = ROOT / "workflow" / "report"
HOSTILE = "</script><script>alert('x')</script> & <b>"


def row(name, kind, ours, published, group="G", stage="bm25", **more):
    found = {
        "id": name,
        "label": name,
        "group": group,
        "kind": kind,
        "first_stage": stage,
        "model": None,
        "keep": None,
        "marks": "",
    }
    found |= {"query_set": "test" if ours else None, "published_query_set": "dev", "published": published, "ours": ours}
    found |= {
        "tolerance": 0.01,
        "difference": None,
        "published_ms": 21,
        "ours_ms": 5.0 if ours else None,
        "interval_ms": [4.0, 6.0],
    }
    return found | {"verdict": "not comparable" if ours else "not run", "because": ["other collection"] if ours else []} | more


def facts(record, hostile):
    """A row's own JSON, as far as the report shows it."""
    entry = {
        "source": hostile,
        "query_set": "dev",
        "metric": "RR@10",
        "value": 0.198,
        "tolerance": None,
        "ours": None,
        "difference": None,
    }
    metrics = {"test": {"RR@10": record["ours"], "R@200": 0.9, "queries": 58}} if record["ours"] else {}
    published = [entry | {"verdict": "not comparable", "because": ["other query set"]}]
    known = {key: record[key] for key in ("id", "label", "kind", "first_stage")}
    if "ms_of" in record:
        known |= {"sources": {"latency": record["ms_of"]}, "settings": {"timed": {"first_stage": {"id": "bm25"}}}}
    return known | {"metrics": metrics, "published": published}


def comparison(system, baseline):
    found = {"system": system, "baseline": baseline, "difference": 0.1, "interval": [0.05, 0.15], "p": 0.001, "p_holm": 0.002}
    found |= {"p_randomisation": 0.001, "p_equivalence_holm": None, "effect_size": None, "wins": 3, "ties": 2, "losses": 1}
    return found | {"conclusion": "different", "significant": True, "margin": None}


def write_page(folder, hostile=HOSTILE, metadata=None, measure="RR@10"):
    """A report of made-up results: four rows, whose order by MRR@10 is not that of the page."""
    rows = [
        row("bm25", "first-stage", 0.25, 0.198),
        row("doc2query", "published-only", None, 0.218, stage=None),
        row("epic", "model", 0.41, 0.273, "H", model="paper", keep="full", marks="a"),
        row("pruned", "model", 0.34, 0.241, "H", model="paper", keep=100, label=hostile),
        row("slow", "run-file", 0.3, 0.365, "H", stage=None, ms_queries=1, ms_of=hostile),
    ]
    gain = {"system": "epic", "baseline": "bm25", "effect_ratio": 2.0, "delta_relative_improvement": -0.1}
    order = {"model": "paper", "systems": 3, "kendall_tau": 1.0, "because": ["other collection"], "gains": [gain]}
    table = {"title": "Made up", "headline": "test", "measure": measure, "caption": hostile, "rows": rows, "note": hostile}
    table["over"] = {"query_set": "test", "models": [order]}
    result = {"model": "paper", "ours": 0.05, "verdict": "does not hold", "because": [], "detail": hostile}
    claim = {"id": "x", "section": "pruning", "says": hostile, "published": 0.74, "unit": "share", "results": [result]}
    family = {"mark": "a", "says": "EPIC against its first stage", "margin": None, "tests": [comparison("epic", "bm25")]}
    query = {"text": hostile, "pieces": ["cost", hostile], "weights": [0.1, 0.9]}
    passage = {
        "doc_id": "7",
        "text": "t",
        "pieces": ["price"],
        "weights": [1.0],
        "expansion": {"pieces": ["cost"], "weights": [2.0]},
    }
    store = {
        "keep": "full",
        "measured": False,
        "bytes_per_passage": 61044,
        "gib": 0.1,
        "ms_marco_gib": 502.7,
        "vocabulary_reduced_by": 0.0,
    }
    cost = {"stores": [store], "passages_per_second": 16.0, "compute": {"device": "cpu", "threads": 1}, "passages": 336}
    cost |= {"ms_marco_hours": 150.0, "ms_marco_passages": 8_841_823}
    machine = {"gpu": ["GeForce"], "cpu": "C", "cores": 2, "memory_gb": 24, "system": "Linux"}
    described = {"experiment": {"name": "mine", "sha256": "0" * 64}, "code": {"commit": "c" * 40, "changed_files": True}}
    described |= {"collection": {"documents": "path:x", "count": 3}, "models_sha256": {"paper": "1" * 64}, "settings": hostile}
    described |= {"this_run": {"written": "2026-01-01T00:00:00+00:00", "machine": machine}}
    timings = {}
    for name in ("bm25", "epic", "pruned"):
        timings[name] = folder / f"{name}.tsv"
        write_latency({"warm": {"1": total(2), "2": total(4)}}, "not here", ABOUT, {}, folder / f"{name}.json", timings[name])
    timings["slow"] = folder / "slow.tsv"  # on one query, and with a stage of its own
    slow = {"warm": {"1": {"retrieve": 2_000_000, "read_texts": 5_000_000, "total": 7_000_000}}}
    write_latency(slow, "not here", ABOUT | {"instead_of": 2}, {}, folder / "slow.json", timings["slow"])

    def written(name, value):
        (folder / name).write_text(json.dumps(value))
        return folder / name

    files = {
        "deviations": ROOT / "docs" / "deviations.md",
        "table": written("table.json", table),
        "claims": written("claims.json", {"claims": [claim]}),
        "metadata": metadata or written("metadata.json", described),
        "significance": {"test": written("significance.json", {"alpha": 0.01, "metric": "RR@10", "families": [family]})},
        "rows": {record["id"]: written(f"row-{record['id']}.json", facts(record, hostile)) for record in rows},
        "latencies": {name: folder / f"{name}.json" for name in timings},
        "timings": {"together": timings},
        "costs": {"paper": written("costs.json", cost)},
        "texts": {"paper": written("texts.json", {"queries": [query], "passages": [passage | {"predicted": None}]})},
    }
    with drawn([folder / "frequencies-paper.png"], columns=1) as (axes,):
        axes.plot([1, 2])
    commands = {
        "": "snakemake all",
        "bm25": "snakemake bm25",
        "doc2query": None,
        "epic": "snakemake epic 'x'",
        "pruned": "p",
        "slow": "s",
    }
    write_report(
        files, commands, [("train.batch_size", 16, hostile)], [folder / "frequencies-paper.png"], PAGE, folder / "report.html"
    )
    return folder / "report.html"


@pytest.fixture
def page(tmp_path):
    return write_page(tmp_path).read_text()


def test_every_section_is_there_and_every_row_has_its_command(page):
    for name in SECTIONS:
        assert f'<section id="{name}">' in page and f'href="#{name}"' in page
    assert page.count('class="copy" data-text="snakemake') == 3  # two rows that were run, and everything at once
    assert "snakemake epic &#39;x&#39;" in page and "not run" in page
    assert re.search(r"<b>1</b></li>", page) and "Kendall's tau <b>1.00</b>" in page
    assert "not comparable</span> <small>other collection" in page and "train.batch_size" in page and "GeForce" in page
    assert '<th class="number">R@200</th>' in page and "<h3>RR@10, test: EPIC against its first stage (a)</h3>" in page


def test_the_results_are_headed_by_the_measure_of_the_table(page, tmp_path):
    assert page.count('<th class="number">MRR@10 published</th>') == 1
    assert '<th class="number">R-prec published</th>' in write_page(tmp_path, measure="Rprec").read_text()


def test_every_row_has_its_stages_by_name_and_a_slow_one_its_number_of_queries(page):
    table = re.search(r'<table class="sortable" id="stages">.*?</table>', page, re.DOTALL)[0]
    assert re.findall(r"<th[^>]*>([^<]*)</th>", table) == ["row", "retrieve", "score", "read texts", "total"]
    rows = {cells[0]: cells[1:] for cells in (re.findall(r"<td[^>]*>([^<]*)</td>", line) for line in table.splitlines()) if cells}
    assert rows["slow"] == ["2.00", "–", "5.00", "7.00"] and rows["epic"] == ["0.00", "0.00", "–", "3.00"]
    assert "5.0 <small>(1 queries)</small>" in page
    over = re.search(r"<td>slow</td><td[^>]*>1</td>.*?</tr>", page)[0]
    assert "+5.00" in over  # beyond its first stage, over the one query that both answered


def test_the_page_needs_nothing_from_anywhere(page, tmp_path):
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page) and "http://" not in page and "@import" not in page
    assert "https://" not in page and "url(" not in page
    image = re.search(r'src="data:image/png;base64,([^"]+)"', page)[1]
    assert base64.b64decode(image) == (tmp_path / "frequencies-paper.png").read_bytes()


def test_a_text_cannot_break_out(page):
    assert HOSTILE not in page and page.count("<script>") == 1 and "&lt;script&gt;alert" in page


class Parts(HTMLParser):
    """The tags and attributes of a page, and its texts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = Counter(), []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags[tag, *(name for name, _ in attributes)] += 1

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("hostile", [ALL, LINES, QUOTES])
def test_whatever_a_text_says_the_page_has_the_same_tags_and_shows_the_text(tmp_path, hostile):
    found, tame = (Parts(write_page(tmp_path, text).read_text()) for text in (hostile, "tame"))
    assert found.tags == tame.tags and len(tame.tags) > 50
    places = sum("tame" in text for text in tame.texts) - 1  # the metadata show it as JSON writes it
    assert sum(visible(hostile) in text for text in found.texts) >= places > 5


def test_nothing_on_the_page_is_unseen_or_moves_what_stands_beside_it(tmp_path):
    assert unseen(write_page(tmp_path, ALL).read_text()) == []
    assert inline_code("a\u202eb `c\u202ed`") == r"a\u202eb <code>c\u202ed</code>"


def test_only_the_pages_own_script_may_run(page):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    script = re.search(r"<script>(.*)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy and policy.startswith("default-src 'none';")


def test_the_page_is_the_same_bytes_for_the_same_results(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one, two = (write_page(tmp_path / name).read_text() for name in ("one", "two"))
    assert one == two


def test_weights_are_shown_when_pointed_at(page):
    assert 'title="cost: 0.1"' in page and 'title="price: 1"' in page
    assert colored(["a", "b"], [0.0, 1.0], [0.0, 1.0])[0] == ("a", 0.0, "#ffffff")


def test_what_differs_comes_from_the_page_of_deviations():
    text = "# A\n\n## Where\n\n- one\n  goes on\n- two `code`\n\n## Next\n\n- three\n"
    assert bullets(text, "Where") == ["one goes on", "two `code`"] and bullets(text, "Nowhere") == []
    assert inline_code("a `b<c` & d") == "a <code>b&lt;c</code> &amp; d"
    assert len(bullets((ROOT / "docs" / "deviations.md").read_text(), "Where paper and code differ")) >= 8


def test_figures_have_captions_by_kind(tmp_path):
    for name in ("frequencies-paper", "words-my-model", "tradeoff"):
        (tmp_path / f"{name}.png").write_bytes(b"x")
        assert figure(tmp_path / f"{name}.png", PAGE)["caption"]


def test_words_for_people():
    assert number(None, 2) == "–" and number(0.125, 2, signed=True) == "+0.12"
    assert [class_of(word) for word in ("match", "above", "equivalent within ±0.005", "inconclusive", "not run", "seen here")] == [
        "good", "bad", "known", "open", "", "",
    ]  # fmt: skip


def test_rows_that_were_not_timed_have_no_overhead_and_where_none_was_that_is_said():
    rows = [{"id": "dph", "kind": "first-stage", "first_stage": "dph"}, {"id": "a", "kind": "model", "first_stage": "dph"}]
    assert overheads(rows, {}) == {} and passes({}) == "Nothing was timed: first stages that are run files are not searched."
