"""What an edit reruns: the list below is the documentation.

Each line edits one place of a copy of the package, and says which of the stages that take hours would run again by their own
digest; what is downstream of them follows. Nothing that is only said to people is a reason to train or to encode.
"""

import shutil

import pytest

from epic.core.code_digest import code_digest
from epic.experiment.families import MEMBERS
from tests.conftest import ROOT

HEAVY = (
    "generate", "recall", "regress", "reweigh", "vocabulary", "tokenise", "train", "candidates", "encode", "prune", "weigh", "tune", "rerank", "latency", "interpret",
)  # fmt: skip
NOTHING = set()
EDITS = [  # what is edited, what stands there, what stands there afterwards, which heavy stages run again
    # words for people
    ("training/train.py", "lower train.learning_rate", "choose a lower train.learning_rate", NOTHING),
    ("vectors/phi.py", "encoding failed at document", "could not encode document", NOTHING),
    ("vectors/store_header.py", "not a vector store (", "no vector store (", NOTHING),
    ("model/authors_weights.py", "docs/model.md says where", "the page on models says where", NOTHING),
    ("corpus/text_files.py", "ids must be unique", "every id must be unique", NOTHING),
    ("training/train.py", '"best: iteration', '"the best: iteration', NOTHING),  # a log record
    ("training/card.py", "Not trained further.", "Not trained any further.", NOTHING),
    ("rankers/epic.py", "Passage re-ranking by Expansion", "Re-ranking by Expansion", NOTHING),
    ("rankers/pairs.py", "PASSAGES_AT_A_TIME = 20_000", "PASSAGES_AT_A_TIME = 10_000", NOTHING),  # of other families
    ("rankers/tk_model.py", "SIGMA = 0.1", "SIGMA = 0.2", NOTHING),  # of another family
    ("experiment/measure_names.py", '"AP": "map"', '"AP": "map", "Bpref": "bpref"', NOTHING),  # one more measure
    ("experiment/families.py", '"load", "timed"', '"timed", "load"', NOTHING),
    # how an experiment is written and checked, what was published, verdicts, figures, pages, plans
    ("experiment/problems.py", "is no multiple of batch_size", "must be a multiple of batch_size", NOTHING),
    ("experiment/expansion.py", '"full" if whole', '"all" if whole', NOTHING),
    ("experiment/measurements.py", '"first-stage", "model"', '"model", "first-stage"', NOTHING),
    ("judging/verdicts.py", "ROUNDING = 1e-12", "ROUNDING = 1e-9", NOTHING),
    ("judging/checks.py", '"msmarco-passage/train"', '"msmarco-passage"', NOTHING),
    ("report/charts.py", "MARKERS = (", 'MARKERS = ("s", ', NOTHING),
    ("report/stages.py", "SPAN = 20", "SPAN = 30", NOTHING),
    ("report/table.py", '"not run"', '"not yet run"', NOTHING),
    ("planning/rates.py", "DISK = 1 / 500e6", "DISK = 1 / 400e6", NOTHING),
    ("vectors/frequencies.py", "value\\tcount", "tenth\\tcount", NOTHING),
    ("first_stage/generator.py", "has no {", "lacks {", NOTHING),
    ("first_stage/predicted_queries.py", "JOINED = re.compile(r\"(^|/)", "JOINED = re.compile(r\"(?:^|/)", {"interpret"}),
    # what a stage computes
    ("first_stage/noise.py", "ROUNDS = 10", "ROUNDS = 7", {"generate"}),
    ("first_stage/query_generator.py", "argmax(dim=1", "argmin(dim=1", {"generate"}),
    ("first_stage/generate.py", "USUAL = 128", "USUAL = 64", {"generate"}),
    ("corpus/make_vocabulary.py", "passages >= at_least", "passages > at_least", {"vocabulary"}),
    ("corpus/word_vectors.py", "MOST_PARTS = 10", "MOST_PARTS = 9", {"vocabulary"}),
    ("corpus/words.py", "[a-z0-9]+", "[a-z]+", {"vocabulary"}),  # of EPIC; a family of words reads it too
    ("first_stage/recall.py", "grade >= relevance", "grade > relevance", {"recall"}),
    ("first_stage/recall.py", "so nothing can be learnt", "so there is nothing to learn", NOTHING),
    ("training/regress.py", ".square().mean()", ".abs().mean()", {"regress"}),
    ("model/deepct_counts.py", "DECIMALS = 5", "DECIMALS = 6", {"regress", "reweigh"}),  # both join word-pieces
    ("model/term_weights.py", "DROPOUT = 0.1", "DROPOUT = 0.2", {"regress", "reweigh"}),
    ("vectors/reweigh.py", "BLOCK = 128", "BLOCK = 64", {"reweigh"}),
    ("training/loss.py", "1 - torch.softmax", "1.0 - torch.softmax", {"train"}),
    ("rankers/epic.py", '"equations.theta4")', '"equations.theta4", "x")', {"train"}),
    ("vectors/value_counts.py", "values * 10", "values * 20", {"encode"}),
    ("vectors/tokenise.py", "TEXTS_AT_A_TIME = 4_096", "TEXTS_AT_A_TIME = 2_048", {"tokenise", "encode", "reweigh"}),
    (
        "vectors/candidates.py", "LOOKED_UP_AT_ONCE = 100_000", "LOOKED_UP_AT_ONCE = 50_000",
        {"tokenise", "candidates", "encode", "prune", "tune", "rerank", "latency"},
    ),
    ("vectors/prune.py", "ROWS_AT_A_TIME = 256", "ROWS_AT_A_TIME = 128", {"prune"}),
    ("ranking/tune.py", "values[least - 1 :]), least - 1) + 1", "values[least - 1 :]), least - 1) + 1 + 0", {"tune"}),
    ("vectors/layers.py", "FEW = 4", "FEW = 5", {"encode", "prune", "rerank", "latency"}),
    ("vectors/layer_rows.py", "skipped += 1", "skipped += 2", {"encode", "prune", "rerank", "latency"}),
    ("vectors/store.py", "self.documents * 8", "8 * self.documents", {"prune", "rerank", "latency"}),  # who only writes does not read
    ("vectors/stored_rows.py", "low = 0\n", "low = 0 + 0\n", {"rerank", "latency"}),
    ("vectors/at_query_time.py", "MORE = 20", "MORE = 30", {"latency"}),
    ("latency/timings.py", "LEVEL = 0.95", "LEVEL = 0.9", {"latency"}),
    ("vectors/unpruned_scores.py", "AT_A_TIME = 20_000", "AT_A_TIME = 10_000", {"train", "tune", "rerank"}),
    ("model/equations.py", "torch.log1p(softplus(x))", "torch.log1p(softplus(x) + 0)", {"train", "encode", "weigh", "tune", "rerank", "latency", "interpret"}),
    ("core/mapped.py", "LOOK_AT = 6", "LOOK_AT = 7", {"rerank", "latency"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "epic", folder / "epic", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "workflow" / "scripts", folder / "scripts")
    return folder


def digests(package):
    """The digest of every heavy stage, with EPIC as the family."""
    source = package / "epic" / "rankers" / "epic.py"
    family = {stage: {"source": source, "members": MEMBERS[stage]} if stage in MEMBERS else {} for stage in HEAVY}
    return {stage: code_digest(package / "scripts" / f"{stage}.py", package, **family[stage]) for stage in HEAVY}


def test_a_family_of_words_is_trained_again_if_its_words_are_split_otherwise_and_not_if_they_are_found_otherwise(package):
    family = {"source": ROOT / "tests" / "fake_words.py", "members": MEMBERS["train"]}
    before = code_digest(package / "scripts" / "train.py", package, **family)
    changed = {}
    for module, old, new in (
        ("words", "[a-z0-9]+", "[a-z]+"),
        ("vocabulary", "UNKNOWN = -1", "UNKNOWN = -2"),
        ("make_vocabulary", "passages >= at_least", "passages > at_least"),
        ("word_vectors", "MOST_PARTS = 10", "MOST_PARTS = 9"),
        ("word_lists", "{0,17}", "{0,16}"),
    ):
        path = package / "epic" / "corpus" / f"{module}.py"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
        changed[module] = code_digest(package / "scripts" / "train.py", package, **family) != before
        path.write_text(text)
    assert [module for module, differs in changed.items() if differs] == ["words", "vocabulary"]


@pytest.mark.parametrize(
    ("module", "before", "after", "rerun"),
    [
        ("tk_model", "SIGMA = 0.1", "SIGMA = 0.2", {"train", "tune", "rerank", "latency"}),
        ("tk_scores", "QUERIES_AT_A_TIME = 1_024", "QUERIES_AT_A_TIME = 512", {"train", "tune", "rerank"}),
        ("tk", "SPARSE = ", "SPARSE = () or ", {"train"}),
        ("tk", "Passage re-ranking by Transformer-Kernel", "Re-ranking by Transformer-Kernel", NOTHING),
        ("tk", "each head has an equal part of it", "each head gets an equal part of it", NOTHING),
        ("epic", '"equations.theta4")', '"equations.theta4", "x")', NOTHING),
    ],
)
def test_an_edit_of_tk_reruns_the_stages_of_its_own_models_that_compute_with_it(package, module, before, after, rerun):
    def found():
        source = package / "epic" / "rankers" / "tk.py"
        return {
            stage: code_digest(package / "scripts" / f"{stage}.py", package, source=source, members=members)
            for stage, members in MEMBERS.items()
        }

    path, expected = package / "epic" / "rankers" / f"{module}.py", found()
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    assert {stage for stage, digest in found().items() if digest != expected[stage]} == rerun
    path.write_text(text)


@pytest.mark.parametrize(("module", "before", "after", "rerun"), EDITS, ids=[f"{edit[0]}: {edit[1][:30]}" for edit in EDITS])
def test_an_edit_reruns_the_stages_that_compute_with_it_and_no_other(package, module, before, after, rerun):
    path, found = package / "epic" / module, digests(package)
    text = path.read_text()
    assert before in text, f"{module} has no {before!r} any more: correct the list"
    try:
        path.write_text(text.replace(before, after, 1))
        assert {stage for stage, digest in digests(package).items() if digest != found[stage]} == rerun
    finally:
        path.write_text(text)
    assert digests(package) == found
