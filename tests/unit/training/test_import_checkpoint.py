"""The authors' weights as a checkpoint of ours, with a card."""

import pytest
import torch

from epic.__main__ import main
from epic.core.files import InputError, digest_of, sha256_of
from epic.model.checkpoint import model_digest
from epic.model.epic import EpicModel
from epic.training.import_checkpoint import import_checkpoint


def test_the_command_writes_a_checkpoint_with_a_card(theirs, mlm_encoder, tmp_path, capsys):
    command = ["import-checkpoint", str(tmp_path / "epic.p"), str(tmp_path / "out"), "--encoder", f"path:{mlm_encoder}"]
    assert main(command) == 1
    assert "expected df756649ba3c449cf0f462083ef6082d" in capsys.readouterr().err
    assert main([*command, "--md5", digest_of(tmp_path / "epic.p", "md5")]) == 0
    assert main([*command, "--any-md5"]) == 0
    model = EpicModel.from_pretrained(tmp_path / "out")
    assert model.formulation == "released"
    assert torch.equal(model.state_dict()["equations.theta1.weight"], theirs["query_salience.weight"])
    card = (tmp_path / "out" / "README.md").read_text()
    assert "Weights trained by the paper's authors, from `epic.p`" in card and digest_of(tmp_path / "epic.p", "md5") in card


def test_another_file_is_refused_before_any_encoder_is_looked_for(theirs, tmp_path):
    with pytest.raises(InputError, match="expected 0000"):
        import_checkpoint(tmp_path / "epic.p", tmp_path / "out", "path:no/such/encoder", None, ["0000"])
    with pytest.raises(InputError, match="path:no/such/encoder: not found"):
        import_checkpoint(tmp_path / "epic.p", tmp_path / "out", "path:no/such/encoder", None, None)
    assert not (tmp_path / "out").exists()


def test_the_checkpoint_has_a_graph_and_its_card_names_the_encoder(theirs, mlm_encoder, tmp_path):
    import_checkpoint(tmp_path / "epic.p", tmp_path / "out", f"path:{mlm_encoder}", "86b5e09", None)
    card = (tmp_path / "out" / "README.md").read_text()
    assert (tmp_path / "out" / "query.onnx").exists() and "| formulation | released |" in card and "Not trained further." in card
    assert f"`path:.../{mlm_encoder.name}`, revision `86b5e09`" in card and str(mlm_encoder) not in card
    assert sha256_of(mlm_encoder / "model.safetensors") in card
    assert f"sha256 of the weights: `{model_digest(tmp_path / 'out')}`" in card and "Experiment" not in card


def test_a_folder_of_something_else_is_not_replaced(theirs, mlm_encoder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="exists and is no EPIC checkpoint"):
        import_checkpoint(tmp_path / "epic.p", tmp_path / "mine", f"path:{mlm_encoder}", None, None)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
