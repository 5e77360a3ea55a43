"""What people publish tells nothing about the user, the machine and its environment: everything telling is planted, and looked for."""

import importlib
import json
import os
import platform
import socket
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml

from epic.analysis.costs import write_costs
from epic.analysis.statistics import write_statistics
from epic.core.files import sha256_of, write_text
from epic.core.machine import machine
from epic.core.places import placeless
from epic.corpus.data import prepare_documents
from epic.experiment.check import load_experiments
from epic.experiment.expansion import as_yaml
from epic.experiment.lookup import find, row_settings
from epic.experiment.trained import trained_on
from epic.judging.rows import write_row
from epic.latency.latency import java_version
from epic.latency.timings import write_latency
from epic.model.encoder import prepare_encoder
from epic.report.differences import differing
from epic.report.metadata import write_metadata
from epic.report.row_page import render_row
from epic.training.card import model_card
from epic.vectors.store_writer import StoreWriter
from epic.vectors.throughput import write_pace
from tests import tk, words
from tests.conftest import ROOT
from tests.cross_encoders import change, write_classifier
from tests.latency import ABOUT, total
from tests.published import leaks, telling
from tests.query_sets import answered, counted
from tests.unit.report.test_report import write_page

USER, HOST, SECRET = "jane-doe", "janes-laptop", "s3cr3t-t0ken"
JAVA = "#!/bin/sh\necho 'openjdk version \"21.0.9\"' >&2\n"


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A telling home, host, user and environment; the working directory is below that home."""
    folder = tmp_path / "home" / USER
    (folder / "project").mkdir(parents=True)
    (folder / "jdk" / "bin").mkdir(parents=True)
    (folder / "jdk" / "bin" / "java").write_text(JAVA)
    (folder / "jdk" / "bin" / "java").chmod(0o755)
    (folder / "jdk" / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.9"\n')
    variables = {"HOME": folder, "USER": USER, "LOGNAME": USER, "JAVA_HOME": folder / "jdk", "HOSTNAME": HOST}
    variables |= {"EPIC_PLANTED_SECRET": SECRET, "OMP_NUM_THREADS": SECRET, "OMP_WAIT_POLICY": SECRET}
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    names = os.uname_result((os.uname().sysname, HOST, *os.uname()[2:]))
    monkeypatch.setattr(os, "uname", lambda: names)
    monkeypatch.setattr(platform, "node", lambda: HOST)
    monkeypatch.setattr(socket, "gethostname", lambda: HOST)
    monkeypatch.chdir(folder / "project")
    return folder


@pytest.fixture
def settings(home):
    """The smoke experiment of a user whose files lie elsewhere in that home, by absolute paths."""
    text = (ROOT / "workflow/experiments/smoke.yaml").read_text(encoding="utf-8")
    (home / "experiments").mkdir()
    (home / "experiments" / "mine.yaml").write_text(text.replace("path:workflow/resources/tiny", f"path:{home}/tiny"))
    (home / "tiny").symlink_to(ROOT / "workflow/resources/tiny")
    found = load_experiments([home / "experiments"])["mine"]
    for model in found["models"]:
        if model["encoder"]:
            model["encoder"]["source"] = f"path:{home}/encoder"
        else:
            model["settings"]["words"] |= {key: f"path:{home}/{key}.txt" for key in ("vocabulary", "vectors")}
        model["start"] = {"source": f"path:{home}/epic.p", "md5": None}
    assert str(home) in yaml.safe_dump(found)
    return found


def test_the_planted_names_would_be_found(home, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    assert telling() == sorted([str(home), HOST, USER, str(home / "jdk")])
    (out / "a.bin").write_bytes(b"\0" + os.fsencode(home) + b"\0")
    (out / "b.json").write_text(json.dumps({"host": platform.node(), "user": os.environ["USER"]}))
    (out / f"c-{HOST}.txt").write_text(SECRET)
    (out / "d.json").write_text("path:tiny")
    found = leaks(out, *telling(), SECRET)
    assert found == {"a.bin": sorted([USER, str(home)]), "b.json": [USER, HOST], f"c-{HOST}.txt": [HOST, SECRET]}


def test_nothing_that_is_published_has_them(home, settings, mlm_encoder, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    write_text(out / "experiment.yaml", as_yaml(placeless(settings)))
    prepare_documents(settings["data"]["documents"], 336, out / "manifest.json")
    write_everything_measured(out)
    write_rows(settings, out)
    write_cards(settings, out, home, mlm_encoder)
    write_other_rankers(settings, out, home)
    write_statistics(
        out / "manifest.json", [], settings["statistics"]["queries"] or [f"path:{home}/tiny#test"], None, out / "statistics.json"
    )
    (out / "model.safetensors").write_bytes(b"")
    write_metadata(
        home / "experiments/mine.yaml",
        settings,
        out / "manifest.json",
        {},
        {"paper": out},
        [out / "row.json"],
        {},
        {},
        out / "metadata.json",
    )
    write_page(out, "a text", out / "metadata.json")
    write_text(
        out / "differences.json", json.dumps(differing(settings, load_experiments([ROOT / "workflow/experiments"])["paper"]))
    )
    assert len(list(out.rglob("*"))) > 20 and leaks(out, *telling(), SECRET, str(ROOT), str(tmp_path)) == {}
    assert "path:.../tiny#test" in (out / "experiment.yaml").read_text() and "path:.../encoder" in (out / "row.md").read_text()


def write_everything_measured(out):
    """Latency, pace and costs, each with the machine."""
    where = machine() | {"threads": 1, "java": java_version()}
    assert where["java"] == "21.0.9"
    write_latency({"warm": {"1": total(2)}}, "not here", ABOUT, where, out / "latency.json", out / "latency.tsv")
    writer = StoreWriter(out / "store", 2, 256, "0" * 64)
    writer.add(["0"], np.array([[1, 2]]), np.ones((1, 2), np.float16))
    writer.close()
    write_pace(2.0, {"device": "cpu", "threads": 1}, out / "store", out / "pace.json")
    write_costs([out / "pace.json"], out / "store", {100: out / "store"}, out / "costs.json")


def write_rows(settings, out):
    """A row, and its page."""
    (out / "values.tsv").write_text("query_id\tRR@10\nq\t0.5\nr\t0.0\n")
    (out / "a.run").write_text("q Q0 1 1 1.0 t\n")
    row = next(row for row in settings["rows"] if row["kind"] == "model" and row["first_stage"] == "doctttttquery")
    (out / "queries.tsv").write_text("q\tone\nr\ttwo\n")
    (out / "qrels.txt").write_text("q 0 1 1\nr 0 2 1\n")
    evaluated = (
        [out / "values.tsv"],
        [answered(out / "queries.tsv", out / "a.run")],
        [counted(out / "queries.tsv", out / "qrels.txt")],
    )
    write_row(row, row_settings(settings, row), [], {"test": 10}, evaluated, [out / "a.run"], None, out / "row.json")
    render_row(out / "row.json", out / "latency.json", [], 0.01, "a note", "snakemake it", out / "row.md")


def write_cards(settings, out, home, mlm_encoder):
    """An encoder whose config says where it was trained, and a checkpoint with its card."""
    from epic.model.epic import EpicModel
    from epic.rankers import epic as family

    given = home / "encoder"
    given.mkdir()
    for path in mlm_encoder.iterdir():
        (given / path.name).write_bytes(path.read_bytes())
    config = json.loads((given / "config.json").read_text()) | {"_name_or_path": str(given)}
    (given / "config.json").write_text(json.dumps(config))
    prepare_encoder(f"path:{given}", None, sha256_of(given / "model.safetensors"), out / "encoder")
    entry, data = settings["models"][0], trained_on(settings)
    for encoder, name in ((out / "encoder", "checkpoint"), (given, "imported")):
        model = EpicModel.from_encoder(encoder, "paper", seed=1)
        card = partial(model_card, family.card(entry), "mine", entry, data, settings["train"], None, [])
        family.save(model, out / name, card)
        assert json.loads((out / name / "config.json").read_text())["_name_or_path"] == "encoder"
        assert EpicModel.from_pretrained(out / name).vocabulary == model.vocabulary and Path(out / name / "query.onnx").exists()


def write_other_rankers(settings, out, home):
    """Rankers whose words are the user's files, and one whose encoder is the user's folder, with weights of the older kind."""
    import torch

    classifier = write_classifier(home / "classifier")
    change(home / "classifier", _name_or_path=str(home / "classifier"))
    (home / "classifier" / "model.safetensors").unlink()
    torch.save(classifier.state_dict(), home / "classifier" / "pytorch_model.bin")
    sha256 = sha256_of(home / "classifier" / "pytorch_model.bin")
    prepare_encoder(f"path:{home}/classifier", None, sha256, out / "classifier")
    assert json.loads((out / "classifier" / "published.json").read_text())["source"] == "path:.../classifier"
    tk.write_vocabulary(home / "tk")
    words.write_vocabulary(home / "duet")
    for name, folder in (("tk", home / "tk"), ("duet", home / "duet"), ("cross", out / "classifier")):
        entry = find(settings["models"], name)
        family = importlib.import_module(f"epic.rankers.{entry['family']}")
        ranker = family.create(folder, entry | {"start": None}, None, "cpu")
        card = partial(model_card, family.card(entry), "mine", entry, trained_on(settings), settings["train"], None, [])
        family.save(ranker, out / name, card)
        family.load(out / name, {"device": "cpu", "threads": 1, "precision": "float32"})
    assert json.loads((out / "tk" / "ranker.json").read_text())["settings"]["words"]["vectors"] == "path:.../vectors.txt"
