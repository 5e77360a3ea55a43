"""What the tests of training share."""

import pytest

from tests.training import QRELS, QUERIES, RUN, write_collection


@pytest.fixture
def examples(tmp_path):
    """Write triples to a file and read them back with their queries and documents."""
    from epic.documents import Documents
    from epic.examples import Examples

    def made(triples=None):
        write_collection(tmp_path, triples)
        return Examples(tmp_path / "t.tsv", tmp_path / "tq.tsv", Documents(f"path:{tmp_path}"))

    return made


@pytest.fixture
def validation():
    from epic.validation import Validation

    return Validation(QUERIES, QRELS, RUN, token_budget=512)


@pytest.fixture(params=["paper", "released"])
def formulation(request):
    return request.param
