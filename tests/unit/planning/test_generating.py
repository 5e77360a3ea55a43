"""What generating queries takes: hours by operations, memory by the batch, bytes by the queries."""

import pytest

from epic.planning import flop
from epic.planning.amounts import Collection, Given, Job
from epic.planning.cards import NO_CARD
from epic.planning.estimates import cost
from epic.planning.generating import (
    T5_BASE,
    T5_LARGE,
    converting_memory,
    generating_memory,
    model_named,
    weights_of,
)  # fmt: skip

GENERATOR = {
    "id": "t5", "source": "castorini/doc2query-t5-base-msmarco", "revision": "r", "sha256": None, "top_k": 10, "max_input": 512,
    "max_output": 64, "batch": 8, "precision": "float32",
}  # fmt: skip
SETTINGS = {"generators": [GENERATOR], "compute": {"device": "cpu", "threads": 2, "precision": "float32"}}
MSMARCO = Collection(8_841_823, 346, {})


def job(gpus=0, samples="40", shard="1-of-16"):
    return Job("generate", {"generator": "t5", "samples": samples, "seed": "1", "scatteritem": shard}, gpus=gpus)


def test_models_are_known_by_their_names_and_an_unknown_one_is_t5_base():
    assert model_named("castorini/doc2query-t5-large-msmarco") is T5_LARGE and model_named("path:mine") is T5_BASE
    assert weights_of("path:mine") == 4 * 222_903_552


def test_the_numbers_of_weights_are_those_of_transformers():
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    for model, heads in ((T5_BASE, 12), (T5_LARGE, 16)):
        shape = model.shape
        with torch.device("meta"):
            sizes = {"vocab_size": shape.vocabulary, "d_model": shape.width, "d_ff": shape.inner, "num_layers": shape.layers}
            made = T5ForConditionalGeneration(T5Config(**sizes, num_heads=heads, d_kv=64))
        assert sum(weight.numel() for weight in made.parameters()) == model.weights


def test_a_query_takes_two_operations_for_each_weight_of_the_decoder_and_step():
    shape = T5_BASE.shape
    decoder = 12 * (6 * 768**2 + 2 * 768 * 3072) + 768 * 32_128
    assert flop.writing(shape, 10) == pytest.approx(2 * decoder * 10, rel=0.03)
    assert flop.reading(shape, 83) == pytest.approx(2 * 83 * 12 * (6 * 768**2 + 2 * 768 * 3072), rel=0.03)


def test_a_shard_takes_its_part_of_the_hours_and_more_samples_take_more():
    whole = cost(job(shard="1-of-1"), SETTINGS, MSMARCO)
    part = cost(job(shard="1-of-16"), SETTINGS, MSMARCO)
    assert whole.seconds == pytest.approx(16 * part.seconds, rel=0.01) and whole.written == pytest.approx(16 * part.written)
    assert whole.written == pytest.approx(2 * 12.5e9, rel=0.01)  # published: 12.5 GB for 40 samples; as long again until the end
    few = cost(job(samples="1", shard="1-of-1"), SETTINGS, MSMARCO)
    assert 10 < whole.seconds / few.seconds < 20  # reading a passage is done once


def test_seconds_on_a_cpu_are_those_that_were_measured():
    one = cost(job(shard="1-of-1"), SETTINGS | {"compute": SETTINGS["compute"] | {"threads": 1}}, Collection(10_000, 346, {}))
    assert one.seconds / 10_000 == pytest.approx(4.5, rel=0.05)


def test_a_card_does_it_in_a_part_of_its_pace_of_encoding():
    given = Given(MSMARCO, NO_CARD)
    slow, fast = cost(job(), SETTINGS, MSMARCO), cost(job(gpus=1), SETTINGS, *given)
    assert fast.seconds < slow.seconds


def test_memory_grows_with_passages_at_a_time_and_samples_and_is_bounded():
    few = generating_memory(SETTINGS, "t5", "5")
    assert 2_500 < few < generating_memory(SETTINGS, "t5", "40") < 9_000
    small = {"generators": [GENERATOR | {"batch": 1}]}
    assert generating_memory(small, "t5", "40") < 5_000 and converting_memory(SETTINGS, "t5") == pytest.approx(3_283, abs=1)


def test_the_copy_of_a_generator_is_as_large_as_its_weights():
    found = cost(Job("generator", {"generator": "t5"}), SETTINGS, MSMARCO)
    assert found.written == 4 * 222_903_552 and found.seconds < 30
