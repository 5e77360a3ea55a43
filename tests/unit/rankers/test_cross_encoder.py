"""The cross-encoder: what it reads, where it cuts, what it takes from its encoder, and how it learns."""

import json
import re
import shutil
import signal
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.corpus.text_files import Triple
from epic.experiment.families import declared
from epic.latency.latency import Bench
from epic.model.encoder import encoder_folder
from epic.rankers import cross_encoder as family
from epic.rankers import pairs
from epic.training.card import model_card
from epic.training.examples import Example
from epic.training.loss import LOSSES
from epic.training.resume import State
from epic.training.train import Learner, train
from tests.cross_encoders import ENTRY, MINILM, PUBLISHED, change, write_classifier
from tests.pair_training import train_pairs_in
from tests.processes import call
from tests.training import RUN, settings, without_seconds, write_collection

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
SMALL = ENTRY | {"settings": {"query_pieces": 4, "total_pieces": 15}}  # the tiny encoder has 16 positions
EXAMPLES = [
    Example(Triple("q", "0", "1"), "cost of pool", "price of pool", ""),
    Example(Triple("r", "2", "3"), "x", "a b c d e f g h i j k l m n o p q r s t", "café x"),
]


@pytest.fixture
def small(tiny_encoder):
    """A cross-encoder before training, on the tiny random encoder."""
    return family.create(tiny_encoder, SMALL, None, "cpu")


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A folder as transformers saves a BertForSequenceClassification."""
    folder = tmp_path_factory.mktemp("classifier")
    write_classifier(folder)
    return folder


@pytest.fixture
def ranker(classifier):
    return family.create(classifier, ENTRY | {"loss": None}, None, "cpu")


def windows_of(ranker, monkeypatch, queries, passages):
    """The word-pieces and segments that reach BERT, pair by pair."""
    seen = {}

    def first(packed, segments, rows, real=ranker.bert.first):
        seen.update(ids=packed.ids, segments=segments, lengths=packed.padding.lengths, rows=rows)
        return real(packed, segments, rows)

    monkeypatch.setattr(ranker.bert, "first", first)
    with torch.inference_mode():
        ranker.pairs(queries, passages)
    parts = [[part.tolist() for part in seen[kind].split(seen["lengths"])] for kind in ("ids", "segments")]
    assert [int(row) for row in seen["rows"]] == [sum(seen["lengths"][:place]) for place in range(len(queries))]
    return list(zip(*parts, strict=True))


def test_a_pair_is_query_and_passage_between_marks_and_segments_tell_them_apart(ranker, monkeypatch):
    words = {word: ranker.tokenizer.token_to_id(word) for word in ("[CLS]", "[SEP]", "price", "pool", "cost")}
    cls, sep, price, pool, cost = words.values()
    found = windows_of(ranker, monkeypatch, ["pool price", "cost", "", ""], ["Cost!", "", "pool pool", ""])
    mark = ranker.tokenizer.token_to_id("!")
    assert found == [
        ([cls, pool, price, sep, cost, mark, sep], [0, 0, 0, 0, 1, 1, 1]),
        ([cls, cost, sep, sep], [0, 0, 0, 1]),  # an empty passage
        ([cls, sep, pool, pool, sep], [0, 0, 1, 1, 1]),  # an empty query
        ([cls, sep, sep], [0, 0, 1]),
    ]


@pytest.mark.parametrize(
    ("query", "passage", "kept"),
    [
        (62, 446, (62, 446)),  # 511 in all
        (62, 447, (62, 446)),
        (63, 446, (62, 446)),  # of a query never more than 62
        (3, 504, (3, 504)),
        (3, 505, (3, 505)),
        (3, 506, (3, 505)),
        (0, 508, (0, 508)),
        (0, 600, (0, 508)),
        (1, 1, (1, 1)),
        (200, 2000, (62, 446)),
    ],
)
def test_queries_end_after_62_word_pieces_and_passages_where_511_are_reached(ranker, monkeypatch, query, passage, kept):
    ((ids, segments),) = windows_of(ranker, monkeypatch, [" ".join(["pool"] * query)], [" ".join(["cost"] * passage)])
    assert len(ids) == len(segments) == kept[0] + kept[1] + 3 <= 511
    assert (segments.count(0), segments.count(1)) == (kept[0] + 2, kept[1] + 1)
    assert ids[-1] == ids[kept[0] + 1] == ranker.end


def test_a_limit_of_training_cuts_passages_after_so_many_word_pieces(ranker):
    assert len(ranker.passage("pool " * 30, 12)) == 12 and ranker.passage("pool", 12) == ranker.passage("pool")
    assert len(ranker.passage("pool " * 700, 600)) == 508 and len(ranker.passage("pool " * 700)) == 508
    assert ranker.passages(["pool cost", ""], 1) == [ranker.passage("pool"), []]
    assert ranker.passage("Café NAÏVE") == ranker.passage("cafe naive")


def test_a_score_is_the_log_probability_of_the_second_class_however_large_the_logits(ranker):
    with torch.inference_mode():
        expected = torch.log_softmax(ranker.logits([[5, 6]], [[7]]).double(), dim=1)[0, 1].item()
        assert ranker.scores([[5, 6]], [[7]]).item() == pytest.approx(expected, rel=1e-5)
        ranker.logits = lambda queries, passages: torch.tensor([[500.0, -500.0], [-500.0, 500.0], [1.0, 1.0]])
        assert ranker.scores(None, None).tolist() == pytest.approx([-1000.0, 0.0, -0.6931472])


def test_a_score_does_not_depend_on_what_else_is_in_the_batch(ranker, collection_of):
    texts = ["pool " * count for count in (1, 3, 300, 20, 0, 90, 7)]
    documents, queries = collection_of(*texts), {"q": "cost of a pool", "r": "x", "empty": ""}
    run = {query_id: [ScoredDoc(str(doc), 0.0) for doc in (4, 2, 0, 5, 1, 3, 6)] for query_id in queries}
    alone = {query_id: [pairs.scores_of_texts(ranker, queries[query_id], [texts[int(hit.doc_id)].strip()])[0] for hit in hits]
             for query_id, hits in run.items()}  # fmt: skip
    for budget in (0, 400, 100_000):
        found = family.score(ranker, run, queries, documents, budget)
        for query_id, hits in found.items():
            assert [hit.score for hit in hits] == pytest.approx(alone[query_id], rel=1e-5, abs=1e-6)
    assert family.score(ranker, run, queries, documents, 400) == family.score(ranker, run, queries, documents, 400)


def test_scores_that_are_no_numbers_are_refused_by_query_and_document(ranker, collection_of):
    with torch.no_grad():
        ranker.classifier.bias[1] = float("nan")
    message = "query q, document 1: the score is not finite (2 such); set compute.precision to float32"
    with pytest.raises(InputError, match=re.escape(message)):
        family.score(
            ranker, {"p": [], "q": [ScoredDoc("1", 0.0), ScoredDoc("0", 0.0)]}, {"p": "", "q": "x"}, collection_of("a", "b"), 99
        )


def test_everything_comes_from_a_classifier_s_files_and_nothing_is_new(ranker, classifier):
    weights = load_file(classifier / "model.safetensors")
    assert ranker.NEW_LAYERS == () and ranker.state_dict().keys() == weights.keys()
    assert all(torch.equal(value, weights[name]) for name, value in ranker.state_dict().items())


def test_an_encoder_gives_its_pooler_and_the_classifier_is_new_and_seeded(tmp_path, tiny_encoder):
    write_classifier(tmp_path, kind="BertModel")
    weights = load_file(tmp_path / "model.safetensors")
    one, same, other = (family.create(tmp_path, ENTRY | {"seed": seed}, None, "cpu") for seed in (3, 3, 4))
    assert one.NEW_LAYERS == ("classifier.",)
    assert torch.equal(one.bert.pooler.dense.weight, weights["pooler.dense.weight"])
    assert torch.equal(one.classifier.weight, same.classifier.weight) and not torch.equal(
        one.classifier.weight, other.classifier.weight
    )
    assert 0.01 < one.classifier.weight.std() < 0.03 and not one.classifier.bias.any()  # as BERT starts them
    bare = family.create(tiny_encoder, SMALL, None, "cpu")  # without a pooler
    assert bare.NEW_LAYERS == ("bert.pooler.", "classifier.") and bare.bert.pooler.dense.weight.std() < 0.03


def test_a_classifier_of_tokens_is_not_taken_for_one_of_pairs(tmp_path):
    write_classifier(tmp_path, kind="BertForTokenClassification")
    assert family.create(tmp_path, ENTRY, None, "cpu").NEW_LAYERS == ("bert.pooler.", "classifier.")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_type": "distilbert"}, "the encoder is model_type distilbert, hidden_act gelu; a cross-encoder needs model_type bert"),
        ({"model_type": "t5", "hidden_act": None}, "the encoder is model_type t5; a cross-encoder needs model_type bert"),
        ({"hidden_act": "relu"}, "the encoder is model_type bert, hidden_act relu"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type relative_key"),
        ({"model_type": None, "hidden_act": None}, "the encoder is of no known type"),
    ],
)  # fmt: skip
def test_an_encoder_of_another_architecture_is_refused_by_its_name(classifier, tmp_path, changes, message):
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_bytes((classifier / name).read_bytes())
    change(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        family.create(tmp_path, ENTRY, None, "cpu")


@pytest.mark.parametrize("labels", [1, 3])
def test_a_classifier_with_another_number_of_labels_is_refused(tmp_path, labels):
    write_classifier(tmp_path, labels=labels)
    with pytest.raises(InputError, match=f"its classifier has {labels} labels; a cross-encoder needs 2"):
        family.create(tmp_path, ENTRY, None, "cpu")


def test_missing_weights_are_refused_by_name(classifier, tmp_path):
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((classifier / name).read_bytes())
    weights = load_file(classifier / "model.safetensors")
    del weights["bert.encoder.layer.1.attention.self.key.bias"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(InputError, match=r"has no encoder\.layer\.1\.attention\.self\.key\.bias \(1 weights are missing\)"):
        family.create(tmp_path, ENTRY, None, "cpu")


def test_without_training_a_classifier_that_starts_at_random_is_refused(tiny_encoder):
    with pytest.raises(InputError, match=r"cross: the encoder has no bert\.pooler and no classifier; give the model a loss"):
        family.create(tiny_encoder, SMALL | {"loss": None}, None, "cpu")


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ({"query_pieces": 4, "total_pieces": 17}, "total_pieces: 17 word-pieces are more than the 16 positions of the encoder"),
        (
            {"query_pieces": 12, "total_pieces": 15},
            r"query_pieces: of 15 word-pieces in all, \[CLS\], a query of 12 and two \[SEP\]",
        ),
    ],
)
def test_lengths_that_do_not_fit_the_encoder_are_refused(tiny_encoder, lengths, message):
    with pytest.raises(InputError, match=message):
        family.create(tiny_encoder, ENTRY | {"settings": lengths}, None, "cpu")
    with pytest.raises(InputError, match="needs an encoder"):
        family.create([], ENTRY, None, "cpu")


def test_lengths_that_just_fit_are_read_to_the_last_position(tiny_encoder):
    ranker = family.create(tiny_encoder, ENTRY | {"settings": {"query_pieces": 12, "total_pieces": 16}}, None, "cpu")
    with torch.inference_mode():
        assert torch.isfinite(ranker.pairs(["a " * 30], ["b " * 30])).all()


def copied(folder, out, weights=None, **config):
    """A copy of a folder with other weights (None takes one away) and other keys of config.json."""
    shutil.copytree(folder, out)
    changed = load_file(folder / "model.safetensors") | (weights or {})
    save_file({name: value for name, value in changed.items() if value is not None}, out / "model.safetensors")
    change(out, **config)
    return out


def test_an_encoder_of_one_segment_is_refused_for_that(tmp_path):
    write_classifier(tmp_path, type_vocab_size=1)
    with pytest.raises(
        InputError, match=r"encoder: query and passage are two segments, but the encoder has 1 \(type_vocab_size\)"
    ):
        family.create(tmp_path, ENTRY, None, "cpu")


@pytest.mark.parametrize(
    ("weights", "config", "said"),
    [
        ({}, {"hidden_size": 32}, r"config\.json says vocab_size 30522 and hidden_size 32, but embeddings\.word_embeddings\.weight"),
        ({}, {"num_hidden_layers": 2}, r"config\.json says num_hidden_layers 2, but model\.safetensors has 3"),
        ({}, {"num_attention_heads": 5}, r"config\.json says num_attention_heads 5, which does not divide hidden_size 16"),
        ({}, {"max_position_embeddings": 600}, r"config\.json says max_position_embeddings 600"),
        ({}, {"vocab_size": None}, r"config\.json: there is no vocab_size"),
        ({"bert.encoder.layer.2.output.dense.weight": torch.ones(16, 31)}, {}, r"output\.dense\.weight of the shape \(16, 31\)"),
        ({"bert.pooler.dense.weight": torch.ones(8, 8)}, {}, r"pooler\.dense in model\.safetensors has weight of the shape \(8, 8\)"),
        ({"bert.pooler.dense.bias": None}, {}, r"pooler\.dense in model\.safetensors has no bias \(1 weights are missing\)"),
        ({"classifier.bias": None}, {}, r"classifier in model\.safetensors has no bias"),
        ({"classifier.weight": torch.ones(2, 9)}, {}, r"classifier in model\.safetensors has weight of the shape \(2, 9\)"),
        ({"classifier.weight": torch.tensor(1.0)}, {}, r"classifier in model\.safetensors has weight of the shape \(\)"),
    ],
)  # fmt: skip
def test_a_config_json_and_weights_of_two_models_are_refused_in_one_line(classifier, tmp_path, weights, config, said):
    folder = copied(classifier, tmp_path / "encoder", weights, **config)
    with pytest.raises(InputError, match=said) as error:
        family.create(folder, ENTRY, None, "cpu")
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


def test_heads_that_it_does_not_use_may_be_there(classifier, tmp_path):
    more = {
        "cls.predictions.bias": torch.ones(3),
        "cls.seq_relationship.weight": torch.ones(2, 16),
        "lm_head.bias": torch.ones(1),
    }
    folder = copied(classifier, tmp_path / "encoder", more)
    assert family.create(folder, ENTRY | {"loss": None}, None, "cpu").NEW_LAYERS == ()


def test_a_tokenizer_of_a_larger_encoder_is_refused(tiny_encoder, classifier, tmp_path):
    folder = copied(tiny_encoder, tmp_path / "encoder")
    shutil.copyfile(classifier / "tokenizer.json", folder / "tokenizer.json")
    with pytest.raises(InputError, match=r"tokenizer\.json: 30522 word-pieces, but the model has embeddings of 37"):
        family.create(folder, SMALL, None, "cpu")


def test_the_family_is_declared_and_both_lengths_are_required():
    import jsonschema

    found = declared("cross_encoder")
    entry = {"settings": PUBLISHED, "encoder": {"id": "x"}, "start": None}
    valid = jsonschema.Draft202012Validator(found.settings).is_valid
    assert not found.precomputes and valid(entry)
    for wrong in ({"query_pieces": 62}, PUBLISHED | {"depth": 3}, PUBLISHED | {"total_pieces": 0}):
        assert not valid(entry | {"settings": wrong})
    assert not valid(entry | {"encoder": None}) and not valid(entry | {"start": {"source": "x", "md5": None}})


def test_pair_scores_are_log_odds_for_the_loss_of_two_decisions(small):
    found = family.pair_scores(small, EXAMPLES, None)
    assert found.shape == (2, 2) and found.requires_grad
    with torch.inference_mode():
        for row, example in enumerate(EXAMPLES):
            for column, text in enumerate((example.relevant, example.other)):
                logits = small.logits([small.query(example.query)], [small.passage(text)])[0]
                assert found[row, column].item() == pytest.approx((logits[1] - logits[0]).item(), abs=1e-6)
        loss = LOSSES["binary-cross-entropy"](found)
        by_hand = -(torch.log(torch.sigmoid(found[:, 0])) + torch.log(1 - torch.sigmoid(found[:, 1]))) / 2
        assert torch.allclose(loss, by_hand, atol=1e-6)
        cut = family.pair_scores(small, EXAMPLES, 2)
        same = family.pair_scores(small, [EXAMPLES[0]._replace(relevant="price of"), EXAMPLES[1]._replace(relevant="a b")], None)
        assert torch.allclose(cut, same, atol=1e-6) and not torch.allclose(cut, found, atol=1e-6)


def test_gradients_are_those_of_finite_differences(tiny_encoder):
    ranker = family.create(tiny_encoder, SMALL, None, "cpu").double()
    for value in ranker.parameters():
        value.data += 0.3 * torch.randn(value.shape, generator=torch.Generator().manual_seed(value.numel()), dtype=value.dtype)

    def loss():
        return LOSSES["binary-cross-entropy"](family.pair_scores(ranker, EXAMPLES, None)).sum()

    loss().backward()
    used = {ranker.start, ranker.end, *(piece for example in EXAMPLES for piece in ranker.passage(example.relevant))}
    compared = 0
    for name, value in ranker.named_parameters():
        flat, step = value.data.view(-1), 1e-5
        places = torch.randperm(flat.numel(), generator=torch.Generator().manual_seed(1))[:4].tolist()
        if name.endswith("word_embeddings.weight"):
            places = [value.shape[1] * piece + 1 for piece in sorted(used)]
        for place in places:
            kept, found = flat[place].item(), []
            for side in (1, -1):
                flat[place] = kept + side * step
                with torch.no_grad():
                    found.append(loss().item())
            flat[place] = kept
            assert value.grad.view(-1)[place].item() == pytest.approx((found[0] - found[1]) / (2 * step), rel=1e-5, abs=1e-8), (
                name
            )
            compared += 1
    assert compared > 150 and all(value.grad is not None for value in ranker.parameters())


def test_only_layers_that_are_new_have_the_rate_of_new_layers(small, classifier):
    learner = Learner.of(family, small, settings(), "binary-cross-entropy")
    rates = {group["lr"]: {id(value) for value in group["params"]} for group in learner.optimizer.parts[0].param_groups}
    new = {id(value) for name, value in small.named_parameters() if "pooler" in name or "classifier" in name}
    assert rates[0.02] == new and len(new) == 4
    ready = family.create(classifier, ENTRY, None, "cpu")
    groups = Learner.of(family, ready, settings(), "binary-cross-entropy").optimizer.parts[0].param_groups
    assert [group["lr"] for group in groups] == [0.01]


SCHEDULED = {"schedule": {"warm_up": 2, "steps": 12}, "weight_decay": 0.01, "clip": 1.0, "learning_rate": 0.02}


def learned(ranker, examples, validation, folder, kind=State, loss="binary-cross-entropy", **changes):
    how = settings(**SCHEDULED | {"patience": 9} | changes)
    return without_seconds(train(family, ranker, examples, validation, how, loss, 7, kind(folder, "key")))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_it_is_trained_with_warm_up_decay_and_clipping_and_twice_the_same(
    tiny_encoder, examples, validation, tmp_path, precision
):
    examples, found = examples(), []
    for name in ("one", "two"):
        ranker = family.create(tiny_encoder, SMALL, None, "cpu")
        before = {key: value.clone() for key, value in ranker.state_dict().items()}
        history = learned(ranker, examples, validation, tmp_path / name, precision=precision, learning_rate_new_layers=0.1)
        family.save(ranker, tmp_path / f"{name}-checkpoint", str)
        found.append((history, (tmp_path / f"{name}-checkpoint" / "model.safetensors").read_bytes()))
        after = ranker.state_dict()
        assert any(not torch.equal(before[key], after[key]) for key in before) and not ranker.training
    assert found[0] == found[1] and len(history) == 3


def test_it_learns_some_triples_by_heart(tiny_encoder):
    ranker = family.create(tiny_encoder, SMALL, None, "cpu")
    torch.manual_seed(1)
    learner = Learner.of(family, ranker, settings(), "binary-cross-entropy")
    losses = [learner.learn(EXAMPLES, 1)[0] for _ in range(100)]
    assert losses[0] == pytest.approx(0.693, abs=0.02) and losses[-1] < 0.2  # at first log 2: it knows nothing


def test_a_step_that_the_schedule_gives_no_rate_changes_nothing(tiny_encoder, examples):
    ranker = family.create(tiny_encoder, SMALL, None, "cpu")
    before = {key: value.clone() for key, value in ranker.state_dict().items()}
    learner = Learner.of(family, ranker, settings(schedule={"warm_up": 2, "steps": 12}), "binary-cross-entropy")
    learner.learn(examples().between(0, 4), 1)  # the first step of a warm-up from 0
    assert all(torch.equal(before[key], value) for key, value in ranker.state_dict().items())
    learner.learn(examples().between(0, 4), 1)
    assert not torch.equal(before["classifier.weight"], ranker.classifier.weight)


KILLS = [
    ("epic.rankers.cross_encoder", "pair_scores", 6, "before"),  # in the middle of the second iteration
    ("epic.training.train", "validate", 2, "after"),
    ("epic.training.resume", "State.load_best", 1, "before"),
]


@pytest.mark.parametrize("kill", KILLS, ids=lambda kill: kill[1])
def test_a_training_that_is_killed_goes_on_and_ends_with_the_same_bytes(tiny_encoder, tmp_path, kill):
    write_collection(tmp_path)
    whole = call(train_pairs_in, tmp_path, tiny_encoder, SMALL, "whole", None, 0, SCHEDULED, timeout=120)
    assert whole.returncode == 0, whole.stdout
    died = call(train_pairs_in, tmp_path, tiny_encoder, SMALL, "broken", kill, 1000, SCHEDULED, timeout=120)
    assert died.returncode == -signal.SIGKILL and not (tmp_path / "broken").exists(), died.stdout
    again = call(train_pairs_in, tmp_path, tiny_encoder, SMALL, "broken", None, 0, SCHEDULED, timeout=120)
    assert again.returncode == 0 and "going on after iteration" in again.stdout
    for name in ("model.safetensors", "ranker.json", "config.json", "tokenizer.json"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_checkpoint_comes_back_as_it_was_and_reads_no_other_folder(small, tiny_encoder, tmp_path):
    with torch.no_grad():
        small.classifier.weight.normal_()
    family.save(small, tmp_path / "one", str)
    names = ["README.md", "config.json", "model.safetensors", "ranker.json", "tokenizer.json"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    again = family.load(tmp_path / "one", CPU)
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in small.state_dict().items())
    assert again.folder == tmp_path / "one" and again.total_pieces == 15 and not again.training
    family.save(again, tmp_path / "two", str)
    for name in names[1:]:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    with torch.inference_mode():
        assert torch.equal(small.pairs(["a"], ["b c"]), again.pairs(["a"], ["b c"]))


def test_scores_in_mixed_precision_are_near_and_not_those_of_single_precision(small, collection_of, tmp_path):
    with torch.no_grad():
        small.classifier.weight.mul_(200)  # so that pairs differ by more than a rounding
    family.save(small, tmp_path / "checkpoint", str)
    queries, documents = {"q1": "cost of pool", "q2": "a b"}, collection_of("price of pool", "a b c", "b a")
    exact, single, mixed = (
        [hit.score for hits in family.score(ranker, RUN, queries, documents, 64).values() for hit in hits]
        for ranker in (
            small,
            *(family.load(tmp_path / "checkpoint", CPU | {"precision": name}) for name in ("float32", "bfloat16")),
        )
    )
    spread = max(exact) - min(exact)
    assert single == exact != mixed and mixed == pytest.approx(exact, abs=0.1 * spread) and spread > 0.03


def test_a_query_of_an_experiment_is_scored_and_timed_in_few_batches(small, tmp_path, collection_of):
    documents = collection_of(*(f"{'pool ' * (place % 7)}x" for place in range(40)))
    family.save(small, tmp_path / "checkpoint", str)
    (tmp_path / "q.tsv").write_text("q\tcost of pool\n")
    (tmp_path / "manifest.json").write_text(json.dumps({"documents": documents.dataset, "count": 40}))
    files = SimpleNamespace(checkpoint=tmp_path / "checkpoint", queries=tmp_path / "q.tsv", manifest=tmp_path / "manifest.json")
    run = {"q": [ScoredDoc(str(place), 0.0) for place in range(40)]}
    found = [hit.score for hit in family.score_run(run, files, CPU, 64)["q"]]
    assert found == pytest.approx(
        pairs.scores_of_texts(small, "cost of pool", documents.texts([hit.doc_id for hit in run["q"]])), abs=1e-6
    )
    timed = family.timed(lambda text: list(map(str, range(40))), files, {}, {}, {"compute": CPU}, Bench(tmp_path))
    asked = []
    timed.ranker.scores = lambda queries, passages, real=timed.ranker.scores: (
        asked.append(len(passages)) or real(queries, passages)
    )
    with timed.opened() as time_one:
        stages = time_one("cost of pool")
    assert asked == [40] and stages["retrieve"] + stages["load"] + stages["score"] == stages["total"]


def test_the_card_says_what_is_read_and_shows_code_that_is_there():
    entry = ENTRY | {"encoder": {"id": "x", "source": "somebody/bert", "revision": "0" * 40, "sha256": "1" * 64}}
    text = model_card(family.card(entry), "smoke", entry, {}, {}, None, [], "2" * 64)
    assert "[CLS] query [SEP] passage [SEP]" in text and "after 62 word-pieces" in text and "at most 511" in text
    assert "from epic import load_ranker" in text
    compile("\n".join(family.card(entry)["use"]), "card", "exec")


def test_the_real_minilm_is_an_encoder_for_it():
    ranker = family.create(encoder_folder(MINILM, None), ENTRY, None, "cpu")
    assert ranker.NEW_LAYERS == ("classifier.",)  # it has a pooler
    with torch.inference_mode():
        assert torch.isfinite(ranker.pairs(["what does a pool cost"], ["A pool costs 20,000."])).all()
