"""Ensembles: members are trained one after the other on consecutive triples, each goes on after a kill, and one that does not learn
is reported."""

import json
import logging
import re
import signal

import pytest
import torch

from epic.corpus.documents import Documents
from epic.corpus.runs import ScoredDoc
from epic.corpus.sampling import sample
from epic.rankers import duet
from epic.training.card import model_card
from epic.training.examples import Examples
from epic.training.history import Iteration, read_histories, write_histories
from epic.training.members import Rest, indifferent, remarks_of, train_all
from epic.training.resume import State
from epic.training.train import train
from epic.training.validation import Validation
from tests import fake_ranker
from tests.measures import measure
from tests.processes import call
from tests.training import QRELS, QUERIES, RUN, make_deadly, settings, without_seconds, write_collection
from tests.words import duet_model, write_vocabulary

CHANGES = {"patience": 9, "max_validations": 2}
MEMBERS = 3


def collection(folder, triples=72):
    """Write passages, queries, triples and a vocabulary."""
    write_vocabulary(folder / "words")
    return write_collection(folder, sample(QRELS, RUN, triples, seed=3))


def trained(folder, name, members=MEMBERS, biases=None, sizes=None, **changes):
    """Train a small Duet; biases: of the output of members, from 1, before training: below zero it is dead, above it is not."""
    ranker = duet.create(folder / "words", duet_model(members=members, **sizes or {}), [], "cpu")
    make, made = ranker.member, []

    def member():
        made.append(make())
        with torch.no_grad():
            if bias := (biases or {}).get(len(made)):
                made[-1].last.bias.fill_(bias)
        return made[-1]

    ranker.member = member
    examples = Examples(folder / "t.tsv", folder / "tq.tsv", Documents(f"path:{folder}"))
    validation, state = Validation(QUERIES, QRELS, RUN, 512, measure("RR@10")), State(folder / f"{name}-state", "key")
    arguments = validation, settings(**CHANGES | changes), "cross-entropy", 1, state
    return ranker, train_all(duet, ranker, examples, *arguments)


def train_in(folder, name, kill=None):
    """Train in a process of its own, to the end or until it is killed."""
    logging.basicConfig(level="INFO")
    if kill:
        make_deadly(*kill)
    torch.set_num_threads(1)
    ranker, course = trained(folder, name)
    duet.save(ranker, folder / name, str)
    write_histories(course.histories, folder / f"{name}.tsv")


def test_members_start_from_their_own_seeds_and_read_consecutive_triples(tmp_path, monkeypatch):
    read, inner = [], Examples.between
    monkeypatch.setattr(Examples, "between", lambda self, *places: read.append(places) or inner(self, *places))
    ranker, course = trained(collection(tmp_path), "whole")
    assert read == [(0, 8), (8, 16), (16, 24), (24, 32), (32, 40), (40, 48)]
    assert [[iteration.triples for iteration in history] for history in course.histories] == [[8, 16]] * 3
    for number, member in enumerate(ranker.members):  # as if each had been trained alone, on its part of the file
        lines = (tmp_path / "t.tsv").read_text().splitlines(keepends=True)[16 * number :]
        (tmp_path / "part.tsv").write_text("".join(lines))
        torch.manual_seed(1 + number)
        alone = ranker.member()
        examples = Examples(tmp_path / "part.tsv", tmp_path / "tq.tsv", Documents(f"path:{tmp_path}"))
        validation, state = Validation(QUERIES, QRELS, RUN, 512, measure("RR@10")), State(tmp_path / f"state-{number}", "key")
        history = train(duet, alone, examples, validation, settings(**CHANGES), "cross-entropy", 1 + number, state)
        assert without_seconds(history) == without_seconds(course.histories[number])
        assert all(torch.equal(value, member.state_dict()[name]) for name, value in alone.state_dict().items())


def test_a_member_that_stops_early_leaves_its_triples_to_the_next(tmp_path, monkeypatch):
    read, inner = [], Examples.between
    monkeypatch.setattr(Examples, "between", lambda self, *places: read.append(places) or inner(self, *places))
    monkeypatch.setattr("epic.training.train.validate", lambda *_: 0.5)  # no improvement after the first
    trained(collection(tmp_path), "whole", members=2, patience=1, max_validations=4)
    assert read == [(0, 8), (8, 16), (16, 24), (24, 32)]


def test_after_the_last_triple_comes_the_first(tmp_path, caplog):
    folder = collection(tmp_path, triples=20)
    examples = Examples(folder / "t.tsv", folder / "tq.tsv", Documents(f"path:{folder}"))
    rest = Rest(examples, 16, settings(max_validations=9))
    assert len(rest) == 20 and rest.documents is examples.documents  # none comes twice
    everything = [example.triple for example in examples.between(0, 20)]
    assert [example.triple for example in rest.between(0, 8)] == everything[16:] + everything[:4]
    assert [example.triple for example in rest.between(0, 4)] == everything[16:]
    assert [example.triple for example in rest.between(8, 20)] == everything[4:16]
    assert "there are only 20 triples" in caplog.text
    _, course = trained(folder, "whole", max_validations=2)
    assert [history[-1].triples for history in course.histories] == [16, 16, 16]


KILLS = [  # of a run with three members of two iterations each; and where the next run goes on, member by member
    (("epic.training.train", "Learner.learn", 1, "before"), []),
    (("epic.training.train", "Learner.learn", 3, "before"), ["2"]),  # the first member is done, the second begins
    (("epic.rankers.duet", "pair_scores", 14, "before"), ["2", "1"]),  # in the middle of the second member's second iteration
    (("epic.training.train", "validate", 4, "after"), ["2", "1"]),  # its second validation is not saved
    (("epic.training.resume", "State.save", 4, "after"), ["2", "2"]),
    (("epic.training.resume", "State.load_best", 3, "after"), ["2", "2", "2"]),
    (("epic.rankers.pairs", "save_weights", 1, "after"), ["2", "2", "2"]),  # the checkpoint is half written
]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    folder = collection(tmp_path_factory.mktemp("unbroken"))
    done = call(train_in, folder, "whole", timeout=120)
    assert done.returncode == 0, done.stdout
    return folder


@pytest.mark.parametrize(("kill", "after"), KILLS, ids=lambda value: "-".join(map(str, value[1:])))
def test_a_run_that_is_killed_in_any_member_ends_with_the_same_bytes(unbroken, tmp_path, kill, after):
    folder = collection(tmp_path)
    died = call(train_in, folder, "broken", kill, timeout=120)
    assert died.returncode == -signal.SIGKILL and not (folder / "broken").exists(), died.stdout
    again = call(train_in, folder, "broken", timeout=120)
    assert again.returncode == 0, again.stdout
    assert re.findall(r"going on after iteration (\d)", again.stdout) == after
    for name in ("model.safetensors", "ranker.json"):
        assert (folder / "broken" / name).read_bytes() == (unbroken / "whole" / name).read_bytes()
    ours, theirs = (read_histories(path) for path in (folder / "broken.tsv", unbroken / "whole.tsv"))
    assert [without_seconds(history) for history in ours] == [without_seconds(history) for history in theirs]
    assert sorted(path.name for path in (folder / "broken-state").iterdir()) == ["member-1", "member-2", "member-3"]


def test_a_member_that_is_dead_is_reported_and_stays_in_the_sum(tmp_path, caplog):
    ranker, course = trained(collection(tmp_path), "whole", biases={2: -99.0})
    constant, lost = (remark for remark in course.remarks if remark.startswith("Member 2 of 3 "))
    assert constant.endswith("gives all passages of any validation query the same score, so it adds nothing to the order.")
    assert lost.endswith("next to nothing: its training loss is 0.6931 at its best iteration, 0.6931 for a guess.")
    assert not any("gives all" in remark for remark in course.remarks if not remark.startswith("Member 2"))
    assert "adds nothing to the order. It stays in the sum." in caplog.text
    with torch.no_grad():
        total, parts = ranker.pairs(["pool"], ["pool"]), [member.pairs(["pool"], ["pool"]) for member in ranker.members]
    assert len(parts) == 3 and parts[1] == 0 and total == sum(parts)
    duet.save(ranker, tmp_path / "checkpoint", str)
    assert json.loads((tmp_path / "checkpoint" / "ranker.json").read_text())["remarks"] == course.remarks
    entry = duet_model() | {"encoder": None, "loss": "cross-entropy"}
    card = model_card(duet.card(entry) | {"remarks": course.remarks}, "mine", entry, {}, {}, "RR@10", course.histories, "abc")
    assert (
        "Member 2 of 3 has learned next to nothing" in card
        and "The sum of 3 members" in card
        and "\n3. Validation MRR@10" in card
    )


@pytest.mark.parametrize(
    ("loss", "of_the_best", "bias", "words"),
    [
        ("cross-entropy", 0.5, 1.0, []),
        ("cross-entropy", 0.69, 1.0, ["loss is 0.6900 at its best iteration, 0.6931 for a guess"]),
        ("cross-entropy", 0.5, -99.0, ["the same score"]),
        ("cross-entropy", 0.6931, -99.0, ["the same score", "loss is 0.6931"]),
        ("one-minus-softmax", 0.48, 1.0, []),
        ("one-minus-softmax", 0.5, 1.0, ["0.5000 for a guess"]),
        ("hinge", 0.98, 1.0, []),
        ("hinge", 1.0, 1.0, ["1.0000 for a guess"]),
    ],
)
def test_what_is_remarked_on_a_member(tmp_path, loss, of_the_best, bias, words):
    member = duet.create(collection(tmp_path) / "words", duet_model(), [], "cpu").members[0]
    with torch.no_grad():
        member.last.bias.fill_(bias)
    history = [
        Iteration(1, 8, 0.1, 0.5, 0.2, 1.0),
        Iteration(2, 16, of_the_best, 0.5, 0.4, 1.0),
        Iteration(3, 24, 9.0, 0.5, 0.3, 1.0),
    ]
    validation = Validation(QUERIES, QRELS, RUN, 512, measure("RR@10"))
    found = remarks_of(duet, member, history, Documents(f"path:{tmp_path}"), validation, loss)
    assert len(found) == len(words) and all(word in remark for word, remark in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([[1, 1], [2, 2, 2]], True), ([[1, 1], [2, 3]], False), ([[1], [2]], False), ([[], [0, 0]], True), ([], False)],
)
def test_scores_that_are_all_alike_within_each_query_are_noticed(scores, expected):
    run = {str(place): [ScoredDoc(str(i), float(value)) for i, value in enumerate(row)] for place, row in enumerate(scores)}
    assert indifferent(run) == expected


def test_a_ranker_without_members_is_trained_as_before(tmp_path):
    folder = collection(tmp_path)
    examples = Examples(folder / "t.tsv", folder / "tq.tsv", Documents(f"path:{folder}"))
    entry = {"id": "overlap", "family": "tests.fake_ranker", "settings": {"scale": 2.0}, "seed": 3}
    found = []
    for name, run in (("one", train), ("other", train_all)):
        ranker = fake_ranker.create([], entry, [], "cpu")
        validation, state = Validation(QUERIES, QRELS, RUN, 512, measure("RR@10")), State(folder / name, "key")
        found.append(run(fake_ranker, ranker, examples, validation, settings(), "cross-entropy", 7, state))
        assert "remarks" not in ranker.facts
    history, course = found
    assert without_seconds(course.histories[0]) == without_seconds(history) and course.remarks == []


def test_members_of_a_model_that_is_not_trained_have_no_history(tmp_path):
    ranker = duet.create(collection(tmp_path) / "words", duet_model(members=2), [], "cpu")
    validation = Validation(QUERIES, QRELS, RUN, 512, measure("RR@10"))
    course = train_all(duet, ranker, None, validation, settings(), None, 1, State(tmp_path / "state", "key"))
    assert course == ([[], []], [])
