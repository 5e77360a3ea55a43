"""Training triples: sampled with a seed, in order, refused where broken."""

import gzip

import pytest

from epic.core.files import InputError
from epic.corpus.documents import Documents
from epic.corpus.sampling import sample
from epic.corpus.text_files import read_queries, read_triples
from epic.corpus.triples import from_docpairs, from_judgments
from tests.query_sets import answered, counted
from tests.training import QRELS, RUN


def test_triples_survive_the_file_in_order(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\tcost of pool\nq2\ta b\nq3\tnot used\n")
    (tmp_path / "qrels").write_text("q1 0 0 1\nq2 0 1 1\nq2 0 2 1\n")
    lines = [f"{query_id} Q0 {hit.doc_id} {rank} 1.0 t" for query_id, hits in RUN.items() for rank, hit in enumerate(hits, 1)]
    (tmp_path / "run").write_text("\n".join(lines) + "\n")
    files = {name: tmp_path / file for name, file in (("queries", "q.tsv"), ("qrels", "qrels"), ("run", "run"))}
    files |= {"counts": counted(files["queries"], files["qrels"]), "answers": answered(files["queries"], files["run"])}
    source = {"depth": 3, "positives": "judged", "seed": 3}
    from_judgments(files, 6, source, tmp_path / "t.tsv", tmp_path / "tq.tsv")
    assert read_triples(tmp_path / "t.tsv") == sample(QRELS, RUN, 6, seed=3)
    assert (tmp_path / "tq.tsv").read_text() == "q1\tcost of pool\nq2\ta b\n"
    for name, text in (("run", lines[0] + "\n"), ("qrels", "q1 0 0 1\n")):
        whole = files[name].read_text()
        files[name].write_text(text)
        with pytest.raises(InputError, match=f"{name} has 1 .*make (it|both) again"):
            from_judgments(files, 6, source, tmp_path / "t.tsv", tmp_path / "tq.tsv")
        files[name].write_text(whole)
    (tmp_path / "t.tsv").write_text("q1\t0\t1\nq1\t0\n")
    with pytest.raises(InputError, match=r"t\.tsv line 2"):
        read_triples(tmp_path / "t.tsv")


def docpairs(folder, tmp_path, content, count=2):
    (folder / "docpairs.test.tsv.gz").write_bytes(gzip.compress(content.encode()))
    from_docpairs(f"path:{folder}#test", count, Documents(f"path:{folder}"), tmp_path / "t.tsv", tmp_path / "tq.tsv")
    return read_triples(tmp_path / "t.tsv")


def test_triples_of_ones_own_are_taken_in_file_order(folder, tmp_path):
    assert docpairs(folder, tmp_path, "q2\t1\tx7\nq2\t1\t0\nq1\t0\t1\n") == [("q2", "1", "x7"), ("q2", "1", "0")]
    assert read_queries(tmp_path / "tq.tsv") == {"q2": "coffee"}
    assert len(docpairs(folder, tmp_path, "q2\t1\tx7\n", count=9)) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q2\t1\tx7\nq2\t1\n", r"docpairs\.test\.tsv\.gz line 2: expected query TAB"),
        ("q2\t1\tx7\nq9\t1\t0\n", r"docpairs\.test\.tsv\.gz line 2: query q9 is not among the queries"),
        ("q2\t1\t0\nq2\t1\t77\n", r"docpairs\.test\.tsv\.gz line 2: document 77 is not in path:"),
    ],
)
def test_malformed_triples_of_ones_own_are_named(folder, tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        docpairs(folder, tmp_path, content)


def test_a_folder_without_triples_says_which_file_it_lacks(folder, tmp_path):
    with pytest.raises(InputError, match=r"#test has no docpairs; there is no .*docpairs\.test\.tsv"):
        from_docpairs(f"path:{folder}#test", 1, Documents(f"path:{folder}"), tmp_path / "t.tsv", tmp_path / "tq.tsv")
