"""What the tests of collections share."""

import pytest


@pytest.fixture
def folder(tmp_path):
    """A folder of one's own: three documents, and two queries of the split `test` with their judgments."""
    (tmp_path / "docs.tsv").write_text("0\tthe first passage\n1\tcafé olé\nx7\t\n", encoding="utf-8")
    (tmp_path / "queries.test.tsv").write_text("q1\twhat comes first\nq2\tcoffee\n")
    (tmp_path / "qrels.test.txt").write_text("q1 0 0 1\nq2 0 1 1\nq2 0 x7 0\n")
    return tmp_path


@pytest.fixture
def prepared(folder):
    """Make that folder ready, as the rules `data` and `queries` do: manifest.json, q.tsv, r.txt and c.json beside its files."""
    from epic.corpus.data import prepare_documents, prepare_queries
    from epic.corpus.documents import open_documents

    def made():
        prepare_documents(f"path:{folder}", 3, folder / "manifest.json")
        documents = open_documents(folder / "manifest.json")
        prepare_queries(f"path:{folder}#test", documents, folder / "q.tsv", folder / "r.txt", folder / "c.json")
        return documents

    return made
