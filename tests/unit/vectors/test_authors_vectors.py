"""The authors' vector file as a store, and the commands that a person types."""

import hashlib

import numpy as np
import pytest

from epic.__main__ import main
from epic.core.files import InputError
from epic.vectors import authors_vectors as published
from epic.vectors.authors_vectors import import_vectors
from epic.vectors.store import Store

KEEP = 4


def records(count, seed=0):
    draw = np.random.default_rng(seed)
    terms = np.stack([np.sort(draw.choice(30_522, KEEP, replace=False)) for _ in range(count)]).astype(np.int16)
    return terms, draw.random((count, KEEP)).astype(np.float16)


def write(path, terms, weights):
    """As the authors' builder does: ids and then weights of each passage, no header."""
    with open(path, "wb") as stream:
        for ids, values in zip(terms, weights, strict=True):
            stream.write(ids.tobytes() + values.tobytes())
    return hashlib.md5(path.read_bytes()).hexdigest()


def test_the_file_comes_back_as_a_store(tmp_path):
    terms, weights = records(600)  # more than are read at a time
    md5 = write(tmp_path / "msmarco.4.v", terms, weights)
    import_vectors(tmp_path / "msmarco.4.v", tmp_path / "store", None, None, md5, documents=600)
    store = Store(tmp_path / "store")
    assert store.terms.tolist() == terms.tolist() and store.weights.tobytes() == weights.tobytes()
    assert store.keep == 4 and store.vocabulary == 30_522 and store.positions(["599"]).tolist() == [599]
    store.verify()


@pytest.mark.parametrize("left_out", [0, 7])
def test_the_last_seven_passages_may_be_missing_and_are_never_made_up(tmp_path, monkeypatch, left_out, caplog):
    caplog.set_level("INFO")
    monkeypatch.setattr(published, "PASSAGES", 23)
    write(tmp_path / "m.4.v", *records(23 - left_out))
    import_vectors(tmp_path / "m.4.v", tmp_path / "store", None, None, None, None)
    store = Store(tmp_path / "store")
    assert len(store) == 23 - left_out
    assert ("the last 7 passages, from 16 on, have no vector" in caplog.text) == bool(left_out)
    if left_out:
        with pytest.raises(InputError, match="no vector for document '16'"):
            store.positions(["15", "16"])
    else:
        assert store.positions(["22"]).tolist() == [22]


def test_the_published_sizes_are_those_of_ms_marco():
    assert (published.PASSAGES * 4000, (published.PASSAGES - published.LEFT_OUT) * 4000) == (35_367_292_000, 35_367_264_000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-3]), r"1597 bytes are no multiple of 16 \(r=4\); was it cut off"),
        (lambda path: path.write_bytes(path.read_bytes()[:-16]), r"holds 99 vectors of 4 terms, expected 100; say --documents"),
        (lambda path: path.write_bytes(path.read_bytes()[:-8] + b"\xff\x7f" * 4), "what stands at passage 99 is no vector"),
        (lambda path: path.write_bytes(b"\xff\xff" * 4 + path.read_bytes()[8:]), "what stands at passage 0 is no vector"),
        (
            lambda path: path.write_bytes(path.read_bytes()[:-2] + b"\0\0"),
            "expected .*; fetch it again, or say --any-md5 if it is your own",
        ),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused(tmp_path, change, message):
    md5 = write(tmp_path / "m.4.v", *records(100))
    change(tmp_path / "m.4.v")
    with pytest.raises(InputError, match=message):
        import_vectors(tmp_path / "m.4.v", tmp_path / "store", None, None, md5, documents=100)
    assert not (tmp_path / "store").exists()


def test_the_number_of_terms_is_asked_for_where_the_name_does_not_say_it(tmp_path):
    write(tmp_path / "vectors", *records(3))
    with pytest.raises(InputError, match="say --keep"):
        import_vectors(tmp_path / "vectors", tmp_path / "store", None, None, None, 3)
    import_vectors(tmp_path / "vectors", tmp_path / "store", 4, None, None, 3)
    assert len(Store(tmp_path / "store")) == 3


def test_another_folder_is_not_replaced(tmp_path):
    write(tmp_path / "m.4.v", *records(3))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="mine exists and is no vector store"):
        import_vectors(tmp_path / "m.4.v", tmp_path / "mine", None, None, None, 3)
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_the_commands(tmp_path, capsys):
    write(tmp_path / "m.4.v", *records(3))
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "model.safetensors").write_bytes(b"weights")
    arguments = ["import-vectors", str(tmp_path / "m.4.v"), str(tmp_path / "store"), "--documents", "3"]
    assert main([*arguments, "--md5", published.MD5]) == 1
    assert f"expected {published.MD5}; fetch it again" in capsys.readouterr().err
    assert main(arguments[:3]) == 1
    assert "expected 8841823 or 8841816; say --documents" in capsys.readouterr().err
    assert main([*arguments, "--checkpoint", str(tmp_path / "checkpoint")]) == 0
    assert Store(tmp_path / "store").model == hashlib.sha256(b"weights").hexdigest()
    assert main(["verify", str(tmp_path / "store")]) == 0
    assert "3 vectors of 4 terms, as they were written" in capsys.readouterr().out
    weights = tmp_path / "store" / "weights.f16"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert main(["verify", str(tmp_path / "store")]) == 1
    assert "weights.f16: the content has changed" in capsys.readouterr().err


@pytest.mark.parametrize("keep", [0, -1, 30_523])
def test_a_number_of_terms_that_cannot_be_is_refused(tmp_path, keep):
    write(tmp_path / "m.4.v", *records(3))
    with pytest.raises(InputError, match=r"m\.4\.v: .* terms a passage cannot be"):
        import_vectors(tmp_path / "m.4.v", tmp_path / "store", keep, None, None, documents=3)
