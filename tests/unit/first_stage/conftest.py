"""What the tests of first stages share."""

import pytest


@pytest.fixture
def documents(collection_of):
    """Four passages, one of them empty."""
    return collection_of("zero", "one", "deux café", "")
