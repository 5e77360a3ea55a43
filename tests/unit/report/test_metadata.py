"""Run metadata: all that is the same each time, and apart from it what is not."""

import json
import platform

from epic.core.files import sha256_of
from epic.report.metadata import seeds, versions, write_metadata

SETTINGS = {"title": "T", "models": [{"id": "paper", "seed": 42}], "triples": {"source": "sampled", "seed": 7}}


def test_what_differs_between_repeats_stands_in_a_block_of_its_own(tmp_path):
    (tmp_path / "mine.yaml").write_text("title: T\n")
    (tmp_path / "manifest.json").write_text('{"documents": "path:x", "count": 3}')
    (tmp_path / "q.tsv").write_text("q\ttext\n")
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "bm25.json").write_text("{}")
    for name in ("one", "two"):
        write_metadata(
            tmp_path / "mine.yaml",
            SETTINGS,
            tmp_path / "manifest.json",
            {"test.queries": tmp_path / "q.tsv"},
            {"paper": tmp_path},
            [tmp_path / "bm25.json"],
            {"": "make it"},
            {"train": "0123"},
            tmp_path / name,
        )
    one, two = (json.loads((tmp_path / name).read_text()) for name in ("one", "two"))
    run = one.pop("this_run"), two.pop("this_run")
    assert one == two and all(set(block) == {"written", "machine"} for block in run)
    assert one["experiment"] == {"name": "mine", "sha256": sha256_of(tmp_path / "mine.yaml"), "title": "T"}
    assert one["collection"]["count"] == 3 and one["rows_sha256"] == {"bm25": sha256_of(tmp_path / "bm25.json")}
    assert one["models_sha256"]["paper"].startswith("e3b0c442") and one["commands"] == {"": "make it"}
    assert set(one["code"]) == {"commit", "changed_files", "stages"} and one["settings"] == SETTINGS


def test_every_seed_and_every_version_is_named():
    assert seeds(SETTINGS) == {"model paper": 42, "triples": 7, "bootstrap and randomisation": 42}
    found = versions()
    assert found["python"] == platform.python_version() and found["torch"] and found["snakemake"] and found["numpy"]
