"""A card for each test, and what the tests of vectors and training share."""

import pytest

from tests.unit.conftest import checkpoint, collection_of, documents, examples, formulation, validation  # noqa: F401 - fixtures


@pytest.fixture
def card():
    """A card that computes, inserted while the test runs."""
    from tests.device.card import inserted

    with inserted() as found:
        yield found
