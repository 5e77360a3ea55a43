"""Every format, a little: with a fixed seed and a limit of time; `make fuzz` does thousands."""

import pytest

from tests.fuzz.formats import formats
from tests.fuzz.run import FINE, tried

COUNT = {"epic.p": 15, "tar of weights": 15}  # torch takes milliseconds
FORMATS = {format.name: format for format in formats()}


@pytest.mark.parametrize("name", FORMATS)
def test_a_mutated_input_is_refused_with_its_place_or_makes_sense(name):
    counted, examples = tried(FORMATS[name], COUNT.get(name, 60), seed=0)
    assert not set(counted) - FINE, examples
