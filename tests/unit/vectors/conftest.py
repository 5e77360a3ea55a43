"""What tests of scores that come with vectors share."""

import pytest

from tests.one_pass import files_of


@pytest.fixture
def files(model, documents, tmp_path):
    return files_of(model, documents, tmp_path)
