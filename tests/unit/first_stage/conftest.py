"""What the tests of first stages share."""

import pytest

from tests.generators import write_generator


@pytest.fixture
def documents(collection_of):
    """Four passages, one of them empty."""
    return collection_of("zero", "one", "deux café", "")


@pytest.fixture(scope="session")
def generator_folder(tmp_path_factory):
    """A tiny T5 with random weights."""
    return write_generator(tmp_path_factory.mktemp("generator") / "tiny-t5")
