"""The whole pipeline on the embedded collection, killed once on the way: do the numbers make sense, and is it honest?"""

import json
import shutil
import sys
from functools import partial

import numpy as np
import pytest
import yaml

from epic.first_stage.anserini import complaint
from tests.conftest import ROOT
from tests.measures import measure
from tests.published import leaks, telling
from tests.workflow.conftest import command

pytestmark = pytest.mark.smoke
MODELS = {"paper": "epic", "released": "released"}  # and how their rows are called
RERANKED = [
    f"{model}-{stage}-{keep}"
    for model in MODELS.values()
    for stage in ("bm25", "doctttttquery")
    for keep in ("full", "r2000", "r1000", "r100")
]
OTHERS = {"tk": "tk-1", "duet": "duet-v2", "cross": "cross-encoder"}  # models of other families, and their rows
TIMED = [*RERANKED, *OTHERS.values(), "bm25", "doctttttquery", "doc2query", "deepct", "bert-large"]
RUN_ROWS = [*TIMED, "doctttttquery-run"]
NOT_RUN = ["tk-3"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Let torch compute on one thread: two wait for each other as soon as the other test process has work, ten times as long."""
    import torch

    torch.set_num_threads(1)


def row(results, name):
    return json.loads((results / "rows" / f"{name}.json").read_text())


def test_it_shows_one_line_a_stage_then_the_table_and_what_was_found(copy):
    lines = (copy / "first.log").read_text().splitlines()
    table = next(place for place, line in enumerate(lines) if line.startswith("EPIC on the tiny collection (smoke): "))
    stages = [line.split()[1] for line in lines[:table] if line.startswith("  ")]
    assert len(stages) == len(set(stages)) > 20 and {"train", "encode", "latency", "rows", "report"} <= set(stages)
    assert table < 50 and max(map(len, lines[table:])) <= 100
    rest = " ".join(lines[table:])
    assert "  EPIC + BM25, pruned r=1000 " in rest and "Found: EPIC + BM25 0." in rest and "corrected p = " in rest
    for path in ("results/smoke/report.html", "results/smoke/figures", "results/smoke/logs"):
        assert path in rest
    assert "results/.run.lock: process " in " ".join(lines)


def test_the_jobs_and_all_that_they_print_are_in_logs(copy, results):
    logs = [path.read_text() for path in (copy / ".snakemake" / "log").glob("*.log")]
    assert any("localrule rows:" in text and "    jobid: " in text for text in logs)
    assert "Lucene" in (results / "logs/index/bm25.log").read_text()  # Java's own words
    healthy = {path: path.read_text() for path in (results / "logs").rglob("*.log")}
    assert len(healthy) > 100 and [path for path, text in healthy.items() if complaint(text) or "Traceback" in text] == []
    assert "INFO" not in (copy / "first.log").read_text()


def test_training_went_on_where_it_was_killed(results):
    logs = [(results / "logs/train" / f"{model}.log").read_text() for model in MODELS]
    assert any("going on after iteration 1, triple 192" in log for log in logs), logs
    for model in MODELS:
        lines = (results / "train" / model / "history.tsv").read_text().splitlines()
        assert [line.split("\t")[:2] for line in lines[1:]] == [["1", "192"], ["2", "384"]]
        assert float(lines[2].split("\t")[2]) < float(lines[1].split("\t")[2])  # the loss falls
    assert not (results / "state").exists()


def test_each_checkpoint_has_a_card_and_says_its_formulation(results):
    for model in MODELS:
        folder = results / "train" / model / "checkpoint"
        assert json.loads((folder / "epic.json").read_text())["formulation"] == model
        assert f"Experiment `smoke`, model `{model}`" in (folder / "README.md").read_text()
    for model, family in {"tk": "tk", "duet": "duet", "cross": "cross_encoder"}.items():
        folder = results / "train" / model / "checkpoint"
        assert json.loads((folder / "ranker.json").read_text())["family"] == family
        assert f"Experiment `smoke`, model `{model}`" in (folder / "README.md").read_text()


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_of_another_family_scores_texts_by_itself_as_its_row_did(results, name):
    from epic import load_ranker
    from epic.corpus.documents import open_documents
    from epic.corpus.runs import read_run
    from epic.corpus.text_files import read_queries

    queries, documents = read_queries(results / "data/test.queries.tsv"), open_documents(results / "data/manifest.json")
    cutoff = json.loads((results / "tune" / name / "bm25.json").read_text())["cutoff"]
    ranker, run = load_ranker(results / "train" / name / "checkpoint"), read_run(results / "rerank" / OTHERS[name] / "test.run")
    assert 1 <= cutoff <= (20 if name == "cross" else 200) and row(results, OTHERS[name])["settings"]["cutoff"] == cutoff
    for query_id, hits in list(run.items())[:3]:
        found = ranker.score(queries[query_id], documents.texts([hit.doc_id for hit in hits[:cutoff]]))
        assert found == pytest.approx([hit.score for hit in hits[:cutoff]], abs=1e-5)


def test_duet_has_two_members_each_trained_on_triples_of_its_own_and_one_that_did_not_learn_is_named(results):
    lines = [line.split("\t") for line in (results / "train/duet/history.tsv").read_text().splitlines()]
    assert [line[:3] for line in lines] == [["member", "iteration", "triples"], ["1", "1", "192"], ["2", "1", "192"]]
    card = (results / "train/duet/checkpoint/README.md").read_text()
    remarks = json.loads((results / "train/duet/checkpoint/ranker.json").read_text()).get("remarks", [])
    idle = [place for place, line in enumerate(lines[1:], 1) if float(line[3]) >= 0.99 * np.log(2)]  # hardly better than a guess
    assert idle == [
        member for member in (1, 2) if any(f"Member {member} of 2 has learned next to" in remark for remark in remarks)
    ]
    assert row(results, "duet-v2").get("remarks", []) == remarks
    for text in (card, (results / "rows/duet-v2.md").read_text(), (results / "models/duet.md").read_text()):
        assert all(remark.split(":")[0] in text for remark in remarks)


def test_both_formulations_are_compared_by_a_paired_test(results):
    families = json.loads((results / "significance/test.json").read_text())["families"]
    pairs = {(test["system"], test["baseline"]) for family in families for test in family["tests"]}
    for name in RERANKED:
        if name.startswith("released-"):
            assert (name, name.replace("released-", "epic-")) in pairs
    assert {(name, "bm25") for name in OTHERS.values()} <= pairs
    for test in (test for family in families for test in family["tests"]):
        assert test["queries"] == test["wins"] + test["ties"] + test["losses"] == 58
        assert test["interval"][0] <= test["difference"] <= test["interval"][1] and test["p"] <= test["p_holm"]


def test_the_table_has_every_row_and_says_what_was_not_run(results):
    records = {record["id"]: record for record in json.loads((results / "table.json").read_text())["rows"]}
    assert set(records) == {*RUN_ROWS, *NOT_RUN}
    for name in RUN_ROWS:
        verdict = "not published" if name == "cross-encoder" else "not comparable"
        assert 0 < records[name]["ours"] <= 1 and records[name]["verdict"] == verdict
        assert (records[name]["ours_ms"] is not None) == (name in TIMED)
    for name in NOT_RUN:
        assert records[name]["ours"] is None and records[name]["verdict"] == "not run" and records[name]["published"] > 0
    assert (results / "table.md").read_text().count("not run") >= len(NOT_RUN)
    assert "never comparable" in (results / "table.md").read_text()
    assert (results / "table.tex").read_text().count(r"\\") >= 26 and len((results / "table.csv").read_text().splitlines()) == 27


def test_every_query_is_counted_and_the_one_without_a_match_scores_zero(results):
    for name in RUN_ROWS:
        lines = (results / "evaluate" / name / "test.tsv").read_text().splitlines()[1:]
        values = {line.split("\t")[0]: float(line.split("\t")[1]) for line in lines}
        assert len(values) == 58 and (values["3057"] == 0.0 or name == "bert-large")  # whose run has hits for every query
        assert sum(values.values()) / 58 == pytest.approx(row(results, name)["metrics"]["test"]["RR@10"], rel=1e-12)


def test_passages_are_reweighted_in_shards_and_those_without_words_are_counted_and_not_indexed(results):
    shards = [results / f"reweigh/deepct/{place}-of-2/docs00.json" for place in (1, 2)]
    ids = [json.loads(line)["id"] for shard in shards for line in shard.open()]
    assert ids == sorted(ids, key=int) and 300 < len(ids) == len(set(ids)) <= 336
    said = f"{len(ids)} documents, {len(ids)} with text, {336 - len(ids)} of the collection absent"
    assert said in (results / "logs/expand/deepct.log").read_text()
    assert (results / "regress/deepct/history.tsv").read_text().startswith("portion\tpassages\tloss\tseconds\n1\t32\t0.")
    assert len((results / "recall/deepct.jsonl").read_text().splitlines()) == 112


def test_the_texts_for_an_index_are_removed_once_it_is_built(results):
    assert not list((results / "expand").glob("[!.]*")) and len(list((results / "index").glob("[!.]*"))) == 4


def test_runs_are_sorted_and_re_ranking_loses_no_hit(results):
    from epic.corpus.runs import read_run

    for name in (*RERANKED, *OTHERS.values()):
        first = read_run(results / "retrieve" / (name.split("-")[1] if name in RERANKED else "bm25") / "test.run")
        run = read_run(results / "rerank" / name / "test.run")
        assert run.keys() == first.keys() and "3057" not in run
        for query_id, hits in run.items():
            assert sorted(hit.doc_id for hit in hits) == sorted(hit.doc_id for hit in first[query_id])
            assert all(left.score >= right.score for left, right in zip(hits, hits[1:], strict=False))


@pytest.mark.parametrize("name", MODELS)
def test_the_trained_model_beats_the_untrained_one(results, name):
    """Both re-rank all first-stage hits, so that the control does not depend on a cut-off tuned for the other."""
    from epic.corpus.documents import open_documents
    from epic.corpus.runs import read_run
    from epic.corpus.text_files import read_qrels, read_queries
    from epic.evaluation.measures import mean_of
    from epic.model.epic import EpicModel
    from epic.model.query_torch import query_vector
    from epic.model.weigh import weigh
    from epic.ranking.rerank import rerank
    from epic.vectors.unpruned_scores import unpruned_scores

    documents = open_documents(results / "data" / "manifest.json")

    def value(model, query_set):
        first, qrels = read_run(results / f"retrieve/bm25/{query_set}.run"), read_qrels(results / f"data/{query_set}.qrels.txt")
        vectors = weigh(partial(query_vector, model), read_queries(results / f"data/{query_set}.queries.tsv"))
        run = rerank(first, unpruned_scores(model, documents, vectors, first, 4096), "keep")
        return mean_of(qrels, {query_id: [hit.doc_id for hit in hits] for query_id, hits in run.items()}, measure("RR@10"))

    untrained = EpicModel.from_encoder(results / "encoder" / "minilm", name, seed=42).eval()
    trained = EpicModel.from_pretrained(results / "train" / name / "checkpoint")
    for query_set in ("validation", "test"):
        assert value(trained, query_set) > value(untrained, query_set), query_set


@pytest.mark.parametrize("name", MODELS)
def test_unpruned_rows_rank_as_a_complete_dense_store_does(results, name):
    """Every passage of the collection encoded with all its terms, and the candidates scored from those vectors."""
    from epic.corpus.documents import open_documents
    from epic.corpus.runs import ScoredDoc, read_run
    from epic.model.epic import EpicModel
    from epic.model.query_vector import read_vectors
    from epic.ranking.rerank import head, rerank
    from epic.vectors.phi import vectors_by_batch
    from epic.vectors.pruned_scores import dense_dot

    model, documents = (
        EpicModel.from_pretrained(results / "train" / name / "checkpoint"),
        open_documents(results / "data" / "manifest.json"),
    )
    texts = dict(documents.span(range(len(documents))))
    pieces, dense = (
        dict(zip(texts, model.pieces(texts.values()), strict=True)),
        np.empty((len(texts), model.vocabulary), np.float16),
    )
    for rows, vectors in vectors_by_batch(model, pieces, 4096, 1024):
        dense[rows] = vectors
    place, queries = {doc_id: row for row, doc_id in enumerate(texts)}, read_vectors(results / "weigh" / name / "test.jsonl")
    for stage in ("bm25", "doctttttquery"):
        first = read_run(results / "retrieve" / stage / "test.run")
        cutoff = json.loads((results / "tune" / name / f"{stage}.json").read_text())["cutoff"]
        scored = {}
        for query_id, hits in head(first, cutoff).items():
            found = dense_dot(dense, np.array([place[hit.doc_id] for hit in hits], dtype=np.int64), queries[query_id]).tolist()
            scored[query_id] = [ScoredDoc(hit.doc_id, score) for hit, score in zip(hits, found, strict=True)]
        expected = rerank(first, scored, "keep")
        run = read_run(results / "rerank" / f"{MODELS[name]}-{stage}-full" / "test.run")
        for query_id, hits in expected.items():
            theirs = {hit.doc_id: hit.score for hit in run[query_id]}
            assert [theirs[hit.doc_id] for hit in hits] == pytest.approx([hit.score for hit in hits], rel=1e-3)
            steps = zip(hits, hits[1:], strict=False)  # the same order, but for scores that differ by less than that
            assert all(theirs[left.doc_id] >= theirs[right.doc_id] or left.score <= right.score * 1.002 for left, right in steps)


def test_pruning_to_2000_terms_hardly_changes_the_ranking(results):
    for name in RERANKED:
        if name.endswith("full"):
            full, pruned = (row(results, n)["metrics"]["test"]["RR@10"] for n in (name, name.replace("full", "r2000")))
            assert pruned == pytest.approx(full, abs=0.05)


def test_the_stores_are_prunings_of_one_another(results):
    from epic.vectors.prune import cut
    from epic.vectors.store import Store

    for model in MODELS:
        wide = Store(results / f"prune/{model}/2000")
        assert len(wide) == 336
        for keep in (1000, 100):
            narrow = Store(results / f"prune/{model}/{keep}")
            terms, weights = cut(np.array(wide.terms), np.array(wide.weights), keep)
            assert np.array_equal(terms, narrow.terms) and weights.tobytes() == np.array(narrow.weights).tobytes()


def test_latencies_are_positive_and_kept_per_query(results):
    for name in TIMED:
        lines = (results / "latency" / "together" / f"{name}.tsv").read_text().splitlines()
        passes = [line.split("\t")[1] for line in lines[1:]]
        assert passes.count("warm") == 6 and passes.count("cold") in (0, 6)
        assert all(int(line.split("\t")[-1]) > 0 for line in lines[1:])


def test_stages_of_latency_are_those_of_a_row_s_family_and_a_published_run_is_timed_by_the_model_that_it_names(results):
    def stages(name):
        return list(json.loads((results / f"latency/together/{name}.json").read_text())["ms"])

    assert {tuple(stages(name)) for name in RERANKED} == {("retrieve", "load", "query_vector", "score", "total")}
    assert {tuple(stages(name)) for name in (*OTHERS.values(), "bert-large")} == {("retrieve", "load", "score", "total")}
    assert stages("bm25") == stages("deepct") == ["retrieve", "total"]
    facts = row(results, "bert-large")
    ran = "the model cross, run here over the first 20 hits of bm25"
    assert (
        facts["sources"] == {"effectiveness": "the published run", "latency": ran} and ran in (results / "table.md").read_text()
    )
    assert facts["settings"]["timed"]["model_sha256"] == row(results, "cross-encoder")["settings"]["model_sha256"]


def test_figures_are_images_and_every_value_was_counted(results):
    from matplotlib.image import imread

    for model in MODELS:
        for name in (f"frequencies-{model}", f"training-{model}", f"words-{model}", "tradeoff", "pruning", "cutoffs", "stages"):
            picture = imread(results / f"figures/{name}.png")
            assert picture.shape[0] > 200 and picture.std() > 0.01
            assert (results / f"figures/{name}.pdf").read_bytes().startswith(b"%PDF")
        lines = [line.split("\t") for line in (results / f"frequencies/{model}.tsv").read_text().splitlines()[1:]]
        assert sum(int(count) for _, count in lines) == 336 * 30_522
        assert (float(lines[0][0]) < 0) == (model == "paper")  # psi is linear there, and damped in the released code
    assert all(imread(results / f"figures/training-{model}.png").std() > 0.01 for model in OTHERS)


def test_the_report_claims_and_metadata_are_complete_and_agree(results):
    page, metadata = (results / "report.html").read_text(), json.loads((results / "metadata.json").read_text())
    for name in RUN_ROWS:
        assert f"snakemake results/smoke/rows/{name}.md --cores all" in page
    assert page.count("data:image/png;base64,") == 13 and "Its numbers are never comparable" in page
    claims = {claim["id"]: claim for claim in json.loads((results / "claims.json").read_text())["claims"]}
    judged = [result["verdict"] for claim in claims.values() for result in claim["results"]]
    assert len(claims) >= 35 and {"holds", "not comparable", "not checkable here"} <= set(judged)
    assert [result["verdict"] for result in claims["vocabulary-1000"]["results"]] == ["holds"]
    assert claims["mrr"]["results"][0]["verdict"] == "not comparable" and claims["passages"]["results"][0]["ours"] == 336
    rows = {name: row(results, name)["settings"].get("model_sha256") for name in (*RERANKED, *OTHERS.values())}
    assert set(rows.values()) == set(metadata["models_sha256"].values()) and metadata["collection"]["count"] == 336


def test_the_experiment_is_written_as_it_is_run(results):
    from epic.experiment.check import load_experiments

    written = yaml.safe_load((results / "experiment.yaml").read_text())
    assert written == load_experiments([ROOT / "workflow" / "experiments"])["smoke"] and len(written["rows"]) == 26


def test_no_file_but_logs_tells_of_the_user_the_machine_or_its_places(copy, results):
    assert leaks(results, *telling(), str(copy), str(ROOT), sys.prefix) == {}


def test_snakemakes_own_report_works_offline(copy):
    run = command(copy, ".venv/bin/snakemake", "smoke", "--report", "snakemake.html", "--cores", "1")
    assert run.returncode == 0 and (copy / "snakemake.html").stat().st_size > 100_000, run.stdout[-2000:]


def test_nothing_is_left_of_the_killed_run(copy):
    assert not list((copy / "results").rglob("*.part"))


def test_a_second_run_does_nothing_and_says_so(copy):
    run = command(copy, "make", "smoke")
    assert run.returncode == 0 and "Nothing to be done" in run.stdout and "EPIC + BM25" in run.stdout


def test_a_deleted_row_comes_back_with_the_same_bytes(copy, results):
    path = results / "rows" / "epic-bm25-r1000.json"
    before = path.read_bytes()
    path.unlink()
    run = command(copy, ".venv/bin/snakemake", path.relative_to(copy), "--cores", "2")
    assert run.returncode == 0 and path.read_bytes() == before
    assert "2 jobs done" in run.stdout  # the row by itself is timed by itself
    assert json.loads((results / "latency/epic-bm25-r1000/epic-bm25-r1000.json").read_text())["together"] == ["epic-bm25-r1000"]


def test_a_deleted_evaluation_chain_comes_back_with_the_same_bytes(copy, results):
    """The last test of such a run: afterwards what is downstream would be made again."""
    paths = [
        results / "rerank/epic-bm25-r100/test.run",
        results / "evaluate/epic-bm25-r100/test.tsv",
        results / "prune/paper/100/header.json",
    ]
    before = [path.read_bytes() for path in paths]
    shutil.rmtree(results / "prune/paper/100")
    for path in paths[:2]:
        path.unlink()
    run = command(copy, ".venv/bin/snakemake", "results/smoke/evaluate/epic-bm25-r100/test.tsv", "--cores", "2")
    assert run.returncode == 0 and [path.read_bytes() for path in paths] == before
