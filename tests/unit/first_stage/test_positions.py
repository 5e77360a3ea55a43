"""Positions of generators: read off config.json, and compared with what is to be read and written."""

import pytest

from epic.core.files import InputError
from epic.first_stage.positions import refuse_too_few, too_few

LENGTHS = {"samples": 3, "max_input": 64, "max_output": 32}


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({}, []),  # relative positions, as in T5
        ({"n_positions": 8}, []),  # T5 names it, and does not use it
        ({"max_position_embeddings": None}, []),
        ({"max_position_embeddings": 64}, []),
        ({"max_position_embeddings": 63}, ["it reads at most 63 tokens, the generator's max_input is 64; lower it"]),
        ({"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 32}, []),  # as in LED
        ({"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 31}, ["it writes at most 31 tokens, the generator's max_output is 32; lower it"]),
        ({"max_position_embeddings": 8}, ["it reads at most 8 tokens, the generator's max_input is 64; lower it", "it writes at most 8 tokens, the generator's max_output is 32; lower it"]),
    ],
)  # fmt: skip
def test_lengths_beyond_the_positions_are_said(config, found):
    assert list(too_few(config, LENGTHS)) == found


def test_they_are_refused_with_the_model_s_place():
    refuse_too_few({"max_position_embeddings": 64}, LENGTHS, "/x")
    with pytest.raises(InputError, match="^/x: it reads at most 16 tokens, the generator's max_input is 64; lower it"):
        refuse_too_few({"max_position_embeddings": 16}, LENGTHS, "/x")
