"""One pass on a card: the scores and vectors of the CPU, with as many launches for sixty passages as for twenty."""

from functools import partial

import numpy as np
import pytest

from epic.corpus.runs import ScoredDoc, write_run
from epic.experiment.settings import EncodeSettings
from epic.model.query_torch import query_vector
from epic.model.query_vector import write_vectors
from epic.model.weigh import weigh
from epic.vectors import asked
from epic.vectors.candidates import Candidates, QuerySet, write_candidates
from epic.vectors.encode import encode_shard
from epic.vectors.scored_pairs import Scored
from tests.device.card import ON
from tests.device.test_encode import LAUNCHES, SYNCS, passages
from tests.vectors import spoken

QUERIES = {"q1": "price of pool", "q2": "x", "q3": "", "q4": "pools of café pools"}


def written(model, documents, folder, hits):
    """Write candidates: every query has the first passages as hits."""
    vectors = weigh(partial(query_vector, model), QUERIES)
    write_vectors(vectors, folder / "v.jsonl")
    write_run(folder / "r.run", {query: [ScoredDoc(str(n), -n) for n in range(hits)] for query in QUERIES}, "bm25")
    write_candidates([QuerySet("s", folder / "v.jsonl", [folder / "r.run"], hits, (2, 3))], documents, None, folder / "c")
    return Candidates(folder / "c")


@pytest.mark.parametrize("at_once", [3, 65_536])
def test_a_card_scores_as_the_cpu_does(model, collection_of, tmp_path, card, monkeypatch, at_once):
    monkeypatch.setattr(asked, "PAIRS_AT_A_TIME", at_once)
    model, documents = model.float(), collection_of(*passages(9), "")
    candidates, settings = written(model, documents, tmp_path, 10), EncodeSettings(9, 64, 1000)
    encode_shard(model, "digest", spoken(model, documents), settings, tmp_path / "1-of-1", candidates)
    encode_shard(model.to(ON), "digest", spoken(model, documents), settings, tmp_path / "2-of-2", candidates)
    cpu, there = (Scored(tmp_path / "c", [tmp_path / name]) for name in ("1-of-1", "2-of-2"))
    found, expected = (scored.scores(scored.candidates.sets["s"]) for scored in (there, cpu))
    assert card.launches["take"] and len(expected) == 40
    assert np.allclose(found, expected, rtol=1.4e-4, atol=1.4e-4)
    left, right = (dict(scored.vectors(["0", "1", "2"], documents)) for scored in (there, cpu))
    assert sorted(left) == [0, 1, 2] and all(np.allclose(left[n], right[n], rtol=2e-3, atol=1e-5) for n in left)


def test_launches_and_syncs_of_a_batch_do_not_grow_with_its_passages(model, collection_of, tmp_path, card):
    model, seen = model.float(), []
    documents = collection_of(*passages(60))
    candidates = written(model, documents, tmp_path, 60)
    model.to(ON)
    for count in (20, 60):
        some = type("Some", (), {"__len__": lambda self, n=count: n, "span": lambda self, rows: documents.span(rows)})()
        card.forget()
        encode_shard(model, "digest", spoken(model, some), EncodeSettings(9, 4096, 1000), tmp_path / f"1-of-{count}", candidates)
        seen.append((sum(card.launches.values()), sum(card.syncs.values())))
    assert seen[0] == seen[1] and seen[0][0] <= LAUNCHES + 20 and seen[0][1] <= SYNCS + 2, (card.launches, card.syncs)
