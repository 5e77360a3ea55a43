"""Published triples through ir_datasets' own msmarco-passage code, on tiny archives in its formats."""

import gzip
import io
import os
import subprocess
import sys
import tarfile

from tests.conftest import ROOT


def archive(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))


def test_docpairs_are_taken_in_file_order_without_the_held_out_queries(tmp_path):
    home = tmp_path / "home" / "msmarco-passage"
    held_out = "93927"  # one of the 200 validation queries
    archive(
        home / "queries.tar.gz",
        {"queries.train.tsv": f"7\tcost of pools\n8\tspa\n{held_out}\tcoastal\n", "queries.dev.tsv": "", "queries.eval.tsv": ""},
    )
    (home / "irds_version.txt").write_text("v2")
    (home / "train").mkdir()
    with gzip.open(home / "train" / "docpairs.tsv.gz", "wt") as stream:
        stream.write(f"8\t1\t2\n{held_out}\t1\t3\n7\t0\t2\n8\t4\t5\n")
    code = (
        "from epic.triples import from_docpairs\n"
        f"from_docpairs('msmarco-passage/train/split200-train', 2, {str(tmp_path / 't.tsv')!r}, {str(tmp_path / 'q.tsv')!r})"
    )
    environment = os.environ | {"IR_DATASETS_HOME": str(tmp_path / "home"), "IR_DATASETS_DL_TRIES": "1"}
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "t.tsv").read_text() == "8\t1\t2\n7\t0\t2\n"
    assert (tmp_path / "q.tsv").read_text() == "7\tcost of pools\n8\tspa\n"
