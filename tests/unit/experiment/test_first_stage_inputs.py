"""Which files first stages are made from, by name."""

import pytest

from epic.core.files import InputError
from epic.experiment import first_stage_inputs, lookup
from epic.experiment.check import load_experiments
from epic.experiment.wanted import Source, output
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, DPH = EXPERIMENTS["smoke"], EXPERIMENTS["covid-dph"]


def test_a_first_stage_searches_its_index_and_reads_no_run():
    searching = {"lucene": output("index.lucene", first_stage="deepct"), "published": [], "manifest": []}
    assert first_stage_inputs.retrieving(SMOKE, "deepct", "test") == searching
    assert lookup.bm25_of(SMOKE, "deepct") == {"k1": 10, "b": 0.9} and not lookup.is_replayed(SMOKE, "deepct")


def test_a_run_file_is_read_beside_the_collection_and_nothing_is_indexed_or_searched():
    meant = "it is the run of dph on trec-covid, which is made elsewhere (docs/own-collection.md)"
    replayed = {"lucene": [], "published": Source("path:covid-dph.trec", meant), "manifest": output("data.manifest")}
    assert first_stage_inputs.retrieving(DPH, "dph", "trec-covid") == replayed
    assert lookup.bm25_of(DPH, "dph") == {} and lookup.is_replayed(DPH, "dph")
    with pytest.raises(InputError, match="first stage dph is a run file: there is nothing to index"):
        first_stage_inputs.expansion(DPH, "dph")


def test_a_query_set_without_a_run_is_refused_with_those_that_have_one():
    with pytest.raises(InputError, match="first stage dph has no run of dev; it has runs of validation, trec-covid"):
        first_stage_inputs.retrieving(DPH, "dph", "dev")
    with pytest.raises(InputError, match="there is no first stage bm25; there are dph"):
        first_stage_inputs.retrieving(DPH, "bm25", "trec-covid")
