"""A card for each test, and what the tests of vectors and training share."""

import pytest

from tests.device.card import install
from tests.unit.conftest import checkpoint, collection_of, documents, examples, formulation, validation  # noqa: F401 - fixtures

install()  # while tests are collected: torch counts its devices at the first gradient, and never again


@pytest.fixture
def card():
    """A card that computes, inserted while the test runs."""
    from epic.model.device import round_products
    from tests.device.card import inserted

    with inserted() as found:
        yield found
    round_products(False)


@pytest.fixture(params=["float32", "tf32", "float16", "bfloat16"])
def compute(request, card, monkeypatch):
    """Settings of a job on the card, which has all precisions."""
    from tests.device.card import ON

    monkeypatch.setattr("epic.model.device._has_tf32", lambda device: device == ON)
    return {"device": ON, "threads": 1, "precision": request.param}
