"""Training examples: in file order, with their texts; an unknown id is refused with its line."""

import pytest
import torch

from epic.core.files import InputError
from epic.model.epic import EpicModel
from epic.rankers import epic as family
from epic.training.examples import Example, Examples
from tests.training import trained


def test_a_triple_with_an_unknown_id_is_named_with_file_and_line(mlm_encoder, examples, validation, tmp_path):
    with pytest.raises(InputError, match=r"t\.tsv line 2: query q9 is not in .*tq\.tsv"):
        examples([("q1", "0", "1"), ("q9", "0", "1")])
    late = [("q1", "0", "1")] * 9 + [("q1", "0", "99")]
    with pytest.raises(InputError, match=r"t\.tsv line 10: document 99 is not in path:"):
        trained(mlm_encoder, examples(late), validation, tmp_path)


def test_an_empty_file_of_triples_is_refused(examples, tmp_path):
    documents = examples().documents
    (tmp_path / "t.tsv").write_text("")
    with pytest.raises(InputError, match=r"t\.tsv: the file is empty"):
        Examples(tmp_path / "t.tsv", tmp_path / "tq.tsv", documents)


def test_examples_come_in_file_order_and_passages_are_cut_only_by_the_setting(mlm_encoder, examples):
    model = EpicModel.from_encoder(mlm_encoder, "paper", seed=7).double().eval()
    found = examples([("q2", "1", "0"), ("q1", "0", "3")]).between(0, 2)
    assert [example.triple.query_id for example in found] == ["q2", "q1"]
    assert found[0][1:] == ("a b", "a b c", "price of pool") and found[1].other == ""
    cut = [
        example._replace(relevant=" ".join(example.relevant.split()[:2]), other=" ".join(example.other.split()[:2]))
        for example in found
    ]
    assert torch.equal(family.pair_scores(model, found, 2), family.pair_scores(model, cut, None))
    assert not torch.equal(family.pair_scores(model, found, None), family.pair_scores(model, cut, None))


def test_only_the_triples_asked_for_are_looked_up(examples, monkeypatch):
    found = examples([("q1", "0", "1"), ("q2", "1", "2"), ("q2", "2", "0")])
    asked, texts = [], found.documents.texts
    monkeypatch.setattr(found.documents, "texts", lambda doc_ids: asked.append(list(doc_ids)) or texts(doc_ids))
    assert len(found) == 3
    assert found.between(1, 2) == [Example(("q2", "1", "2"), "a b", "a b c", "b a")] and asked == [["1", "2"]]
    assert found.between(3, 3) == [] and [example.triple.query_id for example in found.between(1, 99)] == ["q2", "q2"]


def test_of_several_unknown_documents_the_one_of_the_first_line_is_named(examples):
    found = examples([("q1", "0", "1"), ("q1", "0", "zz"), ("q1", "aa", "1")])
    assert len(found.between(0, 1)) == 1
    with pytest.raises(InputError, match=r"t\.tsv line 2: document zz is not in"):
        found.between(0, 3)
    with pytest.raises(InputError, match=r"t\.tsv line 3: document aa is not in"):
        found.between(2, 3)
