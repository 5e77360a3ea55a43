"""ir_datasets' own code for TREC CAR 2017, unmodified, on tiny archives in the collection's formats."""

import json
import lzma
import pkgutil
import re

import pytest

from epic.corpus import car
from epic.corpus.text_files import read_qrels, read_queries
from tests.seeded import run_in
from tests.seeded_car import (
    AERODROME,
    BEES,
    DATASET,
    EMPTY,
    MANUAL,
    PARAGRAPHS,
    TEST,
    TRAIN,
    VALIDATION,
    Page,
    Section,
    paragraph_id,
    queries_of,
    seed_car,
    text_of,
)

SETS = {"test": TEST, "manual": MANUAL, "validation": VALIDATION, "train": TRAIN}
COUNT, IDS = len(PARAGRAPHS), [paragraph_id(parts) for parts in PARAGRAPHS]
PREPARE = f"""
import json, logging
logging.basicConfig(level="INFO")
from pathlib import Path
from epic.corpus.data import prepare_documents, prepare_queries
from epic.corpus.documents import open_documents
out = Path(OUT)
prepare_documents({DATASET!r}, COUNT, out / "manifest.json")
documents = open_documents(out / "manifest.json")
for name, dataset in SETS.items():
    prepare_queries(dataset, documents, out / f"{{name}}.tsv", out / f"{{name}}.qrels", out / f"{{name}}.json")
(out / "docs.json").write_text(json.dumps(list(documents.span(range(len(documents))))))
"""


def prepare(home, out, sets=SETS, count=COUNT):
    code = PREPARE.replace("OUT", repr(str(out))).replace("COUNT", str(count)).replace("SETS", repr(sets))
    return run_in(home, code)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A seeded home, and what the rules data and queries make of it."""
    home, out = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("out")
    assert seed_car(home) == IDS
    run = prepare(home, out)
    assert run.returncode == 0, run.stderr
    return out, run.stderr, home


def test_paragraphs_are_their_texts_with_the_anchors_of_links_and_empty_ones_stay(prepared):
    out, *_ = prepared
    assert json.loads((out / "manifest.json").read_text()) == {
        "documents": DATASET,
        "field": None,
        "count": len(PARAGRAPHS),
        "encoding": "as ir_datasets gives it",
    }
    found = json.loads((out / "docs.json").read_text())
    assert found == [[doc_id, text_of(parts)] for doc_id, parts in zip(IDS, PARAGRAPHS, strict=True)]
    assert found[0][1] == "An aérodrome has runways for aeroplanes and a tower." and found[2][1] == ""
    assert all(re.fullmatch("[0-9a-f]{40}", doc_id) for doc_id, _ in found)


def test_queries_are_the_sections_of_the_outlines_with_their_title_and_headings(prepared):
    out, *_ = prepared
    test = read_queries(out / "test.tsv")
    assert test == queries_of((AERODROME, EMPTY)) == read_queries(out / "manual.tsv")
    assert list(test)[1] == "A%C3%A9rodrome%20X/Heading%20one/Sub/head"
    assert test[list(test)[1]] == "Aérodrome X Heading one Sub/head"
    assert read_queries(out / "validation.tsv") == queries_of((BEES,))


def test_sections_that_share_their_headings_are_one_query(prepared):
    out, said, _ = prepared
    train = read_queries(out / "train.tsv")
    assert list(train) == [*queries_of((BEES,)), "Honey/Uses", "Honey/Bees"]
    assert read_qrels(out / "train.qrels")["Honey/Uses"] == {IDS[4]: 1, IDS[6]: 1}
    counts = json.loads((out / "train.json").read_text())
    assert (counts["queries"], counts["judged"], counts["judgments"]) == (4, 4, 6)
    assert f"{TRAIN}: 1 query id comes again, the first being Honey/Uses; each counts once" in said
    assert "test200: " not in said


def test_judgments_are_automatic_or_manual_with_grades_below_zero(prepared):
    out, *_ = prepared
    assert {grade for judged in read_qrels(out / "test.qrels").values() for grade in judged.values()} == {1}
    manual = read_qrels(out / "manual.qrels")
    assert {grade for judged in manual.values() for grade in judged.values()} >= {-2, -1, 0, 3}
    assert list(manual) == list(queries_of((AERODROME,)))


def test_the_folds_are_packed_again_once_without_what_nobody_reads(prepared):
    *_, home = prepared
    smaller = home / "car" / "train.smaller.tar.xz"
    whole = (home / "car" / "train.tar.xz").read_bytes()
    assert b"not read" in lzma.decompress(whole) and b"not read" not in lzma.decompress(smaller.read_bytes())


def test_a_fold_that_does_not_exist_is_refused_with_those_there_are(prepared, tmp_path):
    run = prepare(prepared[2], tmp_path, {"train": f"{DATASET}/train/fold7"})
    assert (
        run.returncode
        and "InputError: ir_datasets has no dataset car/v1.5/train/fold7; there are car/v1.5/train/fold0, " in run.stderr
    )
    assert "car/v1.5/train/fold4; see https://ir-datasets.com, or say path:FOLDER for one of your own" in run.stderr


def test_outlines_without_any_heading_are_no_queries(tmp_path):
    seed_car(tmp_path / "home", test=(EMPTY, EMPTY))
    run = prepare(tmp_path / "home", tmp_path, {"test": TEST})
    assert run.returncode and f"InputError: {TEST} has no queries" in run.stderr
    assert not (tmp_path / "test.tsv").exists()


def test_a_query_of_nothing_but_blanks_is_refused(tmp_path):
    seed_car(tmp_path / "home", test=(Page("", "X", (Section(" ", "", (0,)),)),))
    run = prepare(tmp_path / "home", tmp_path, {"test": TEST})
    assert run.returncode and f"InputError: {TEST}: query X/ has no text" in run.stderr


def test_a_query_id_that_no_line_of_a_run_could_hold_is_refused(tmp_path):
    seed_car(tmp_path / "home", test=(Page("Bee", "Bee", (Section("A b", "A b", (0,)),)),))
    run = prepare(tmp_path / "home", tmp_path, {"test": TEST})
    assert run.returncode and f"InputError: {TEST}: 'Bee/A b' cannot be the id of a query: " in run.stderr


def test_a_paragraph_that_is_judged_but_not_in_the_collection_is_named(tmp_path):
    seed_car(tmp_path / "home", paragraphs=PARAGRAPHS)
    seed_car(tmp_path / "other", paragraphs=(("Another paragraph.",), *PARAGRAPHS[1:]))
    (tmp_path / "other" / "car" / "trec-y1" / "qrels.tar.gz").replace(tmp_path / "home" / "car" / "trec-y1" / "qrels.tar.gz")
    run = prepare(tmp_path / "home", tmp_path, {"test": TEST})
    absent = paragraph_id(("Another paragraph.",))
    assert run.returncode
    assert f"InputError: the judgments of {TEST}: document {absent} is judged but is not in the collection (1 such)" in run.stderr


def cut(path, share):
    """Cut a file off, as a download does that breaks."""
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])


READ_FOR = {  # of the archives, the dataset for which each is read
    "docs.tar.xz": DATASET, "trec-y1/qrels.tar.xz": TEST, "trec-y1/qrels.tar.gz": TEST, "test200.tar.xz": VALIDATION, "train.tar.xz": TRAIN,
}  # fmt: skip


@pytest.mark.parametrize("share", [0, 0.3])  # of the folds the first ones are read: those may all lie before a later cut
@pytest.mark.parametrize("name", READ_FOR)
def test_an_archive_that_is_cut_off_is_named_with_both_md5s(tmp_path, name, share):
    seed_car(tmp_path / "home", paragraphs=tuple((f"{text_of(parts)} {i}",) for i in range(50) for parts in PARAGRAPHS))
    archive, dataset = tmp_path / "home" / "car" / name, READ_FOR[name]
    cut(archive, share)
    run = prepare(tmp_path / "home", tmp_path, {"x": dataset} if dataset != DATASET else {}, count=50 * len(PARAGRAPHS))
    published = json.loads(pkgutil.get_data("ir_datasets", "etc/downloads.json"))["car"]
    md5 = next(entry["expected_md5"] for entry in published.values() if entry["cache_path"] == name)
    assert run.returncode and f"InputError: {dataset}: {archive} cannot be read" in run.stderr, run.stderr
    assert md5 in run.stderr and "move this one away to download it anew" in run.stderr


def test_folds_that_were_packed_again_and_cut_off_are_named(tmp_path):
    seed_car(tmp_path / "home")
    assert prepare(tmp_path / "home", tmp_path).returncode == 0
    smaller = tmp_path / "home" / "car" / "train.smaller.tar.xz"
    cut(smaller, 0.5)
    run = prepare(tmp_path / "home", tmp_path, {"x": TRAIN})
    assert run.returncode and f"InputError: {TRAIN}: {smaller} cannot be read" in run.stderr
    assert "ir_datasets made it of train.tar.xz; move it away, and it is made again" in run.stderr


PLANNED = """
import json
from epic.planning.sources import downloads_of
from epic.corpus.datasets import load
found = {name: [(absent.name.rpartition("/")[2], absent.size) for kind in ("docs", "queries", "qrels") for absent in downloads_of(getattr(load(name), kind + "_handler")())] for name in NAMES}
print(json.dumps(found))
"""


def asked_for(home, *names):
    """The archives that a plan lists for some datasets, with their bytes."""
    run = run_in(home, PLANNED.replace("NAMES", repr(names)))
    assert run.returncode == 0, run.stderr
    return {name: [tuple(absent) for absent in found] for name, found in json.loads(run.stdout.splitlines()[-1]).items()}


def test_a_plan_lists_the_archives_that_are_not_there(tmp_path, prepared):
    docs, train = ("paragraphcorpus-v1.5.tar.xz", 5114258812), ("train-v1.5.tar.xz", 2591721692)
    judged, asked = ("trec-car-2017-qrels.tar.gz", 4334569), ("benchmarkY1test.public-v1.5.tar.xz", 40508)
    assert asked_for(tmp_path, TRAIN, TEST) == {TRAIN: [docs, train, train], TEST: [docs, asked, judged]}
    assert asked_for(prepared[2], TRAIN, TEST) == {TRAIN: [], TEST: []}
    (prepared[2] / "car" / "train.tar.xz").rename(tmp_path / "train.tar.xz")
    try:
        assert asked_for(prepared[2], TRAIN) == {TRAIN: []}  # packed again, it is not read any more
    finally:
        (tmp_path / "train.tar.xz").rename(prepared[2] / "car" / "train.tar.xz")


def test_the_numbers_are_those_that_ir_datasets_says():
    known = json.loads(pkgutil.get_data("ir_datasets", "etc/metadata.json"))
    assert known[DATASET]["docs"]["count"] == car.PARAGRAPHS
    counts = {name: known[name]["queries"] for name in car.QUERIES}
    assert {name: known[found.get("_ref", name)]["queries"]["count"] for name, found in counts.items()} == car.QUERIES
