"""Training triples: sampled with a seed, in order, refused where broken."""

import pytest

from epic.files import InputError
from epic.records import read_triples
from epic.triples import from_judgments, sample
from tests.training import QRELS, RUN


def test_sampled_triples_are_seeded_balanced_and_never_have_a_relevant_negative():
    triples = sample(QRELS, RUN, 10, seed=3)
    assert triples == sample(QRELS, RUN, 10, seed=3) != sample(QRELS, RUN, 10, seed=4)
    assert len(triples) == 10
    for triple in triples:
        assert QRELS[triple.query_id].get(triple.relevant_id) == 1
        assert triple.other_id not in QRELS[triple.query_id]
    assert {triple.query_id for triple in triples[:2]} == {"q1", "q2"}  # each query once before any comes again


def test_a_query_without_hits_is_left_out_and_nothing_to_draw_is_an_error():
    assert {triple.query_id for triple in sample(QRELS, {"q1": RUN["q1"]}, 4, seed=1)} == {"q1"}
    with pytest.raises(InputError, match="no query has both"):
        sample(QRELS, {"q1": RUN["q1"][:1]}, 4, seed=1)


def test_triples_survive_the_file_in_order(tmp_path):
    (tmp_path / "q.tsv").write_text("q1\tcost of pool\nq2\ta b\nq3\tnot used\n")
    (tmp_path / "qrels").write_text("q1 0 0 1\nq2 0 1 1\nq2 0 2 1\n")
    lines = [f"{query_id} Q0 {hit.doc_id} {rank} 1.0 t" for query_id, hits in RUN.items() for rank, hit in enumerate(hits, 1)]
    (tmp_path / "run").write_text("\n".join(lines) + "\n")
    from_judgments(tmp_path / "q.tsv", tmp_path / "qrels", tmp_path / "run", 6, 3, 3, tmp_path / "t.tsv", tmp_path / "tq.tsv")
    assert read_triples(tmp_path / "t.tsv") == sample(QRELS, RUN, 6, seed=3)
    assert (tmp_path / "tq.tsv").read_text() == "q1\tcost of pool\nq2\ta b\n"
    (tmp_path / "t.tsv").write_text("q1\t0\t1\nq1\t0\n")
    with pytest.raises(InputError, match=r"t\.tsv line 2"):
        read_triples(tmp_path / "t.tsv")
