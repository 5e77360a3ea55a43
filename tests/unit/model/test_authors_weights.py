"""The authors' checkpoint: their names and both archives, at a small size; what does not fit is refused by name."""

import tarfile

import pytest
import torch

from epic.core.files import InputError, digest_of
from epic.model.authors_weights import PUBLISHED, load_authors, read_authors, read_state, starting_model
from tests.authors import BODY, CLS


@pytest.mark.parametrize("name", ["epic.p", "epic.msmarco.tar.gz"])
def test_every_weight_of_both_archives_finds_its_place(released, theirs, tmp_path, name):
    load_authors(released, read_authors(tmp_path / name, [digest_of(tmp_path / name, "md5")]), tmp_path / name)
    ours = released.state_dict()
    assert torch.equal(ours["equations.theta1.weight"], theirs["query_salience.weight"])
    assert torch.equal(ours["equations.theta3.bias"], theirs["doc_salience.bias"])
    assert torch.equal(ours["equations.theta4.weight"], theirs["doc_quality.weight"])
    assert torch.equal(ours["equations.dense.weight"], theirs[f"{CLS}predictions.transform.dense.weight"])
    assert torch.equal(ours["equations.norm.bias"], theirs[f"{CLS}predictions.transform.LayerNorm.bias"])
    assert torch.equal(ours["equations.bias"], theirs[f"{CLS}predictions.bias"])
    for part in ("embeddings.word_embeddings.weight", "encoder.layer.1.attention.self.key.bias"):
        assert torch.equal(ours[f"body.{part}"], theirs[f"{BODY}{part}"])


def test_the_imported_model_scores_as_their_code_would(released, theirs, tmp_path):
    """A whole score worked out from their weights on the imported model's own token vectors."""
    load_authors(released, read_authors(tmp_path / "epic.p", None), tmp_path / "epic.p")
    released.eval()

    def salience(name, x):
        return torch.log(1 + torch.nn.functional.softplus(x @ theirs[f"{name}.weight"][0] + theirs[f"{name}.bias"]))

    head = {
        name.removeprefix(f"{CLS}predictions."): value for name, value in theirs.items() if name.startswith(f"{CLS}predictions.")
    }
    with torch.inference_mode():
        q, d = released.query_tokens(released.pieces(["a pool"])), released.passage_tokens(released.pieces(["cost of pool"]))
        found = released.similarities(q, d).item()
        x = torch.nn.functional.gelu(d.f @ head["transform.dense.weight"].T + head["transform.dense.bias"])
        x = torch.nn.functional.layer_norm(x, (8,), head["transform.LayerNorm.weight"], head["transform.LayerNorm.bias"], 1e-12)
        psi = torch.log(1 + torch.nn.functional.softplus(x @ head["decoder.weight"].T + head["bias"]))
        c = torch.sigmoid(d.cls @ theirs["doc_quality.weight"][0] + theirs["doc_quality.bias"])
        vector = c * (salience("doc_salience", d.f)[:, None] * psi).max(dim=0).values
        expected = (salience("query_salience", q.f) * vector[q.ids]).sum().item()
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("doc_quality.bias"), r"doc_quality\.bias is missing"),
        (lambda s: s.pop(f"{BODY}encoder.layer.0.output.dense.weight"), r"encoder\.bert\.bert\.encoder\.layer\.0\.output\.dense\.weight is missing"),
        (lambda s: s.update({"pooler.weight": torch.ones(1)}), r"pooler\.weight is unknown"),
        (lambda s: s.update({f"{BODY}pooler.dense.weight": torch.ones(1)}), r"encoder\.bert\.bert\.pooler\.dense\.weight is unknown"),
        (lambda s: s.update({"query_salience.weight": torch.ones(1, 768)}), r"query_salience\.weight has the shape \(1, 768\), this encoder needs \(1, 8\)"),
        (lambda s: s.update({f"{CLS}predictions.decoder.weight": torch.ones(37, 8)}), "is not tied to the word embeddings"),
    ],
)  # fmt: skip
def test_missing_unknown_and_misshapen_weights_are_named(released, theirs, tmp_path, change, message):
    change(theirs)
    with pytest.raises(InputError, match=message):
        load_authors(released, theirs, "changed.p")


def test_a_decoder_that_was_not_saved_twice_is_no_matter_and_many_problems_are_counted(released, theirs):
    theirs.pop(f"{CLS}predictions.decoder.weight")
    load_authors(released, theirs, "epic.p")
    with pytest.raises(InputError, match=r"(?s)epic\.p is not EPIC's.*and \d+ more"):
        load_authors(released, {}, "epic.p")


def test_another_md5_a_missing_file_and_the_paper_formulation_are_refused(paper_model, theirs, tmp_path):
    with pytest.raises(InputError, match="expected df756649ba3c449cf0f462083ef6082d or 2f6a16be1a6a63aab1e8fed55521a4db"):
        read_authors(tmp_path / "epic.p", list(PUBLISHED))
    with pytest.raises(InputError, match="there is no such file"):
        read_authors(tmp_path / "nothing.p", None)
    with pytest.raises(InputError, match="weights of the released formulation"):
        load_authors(paper_model, theirs, "epic.p")


class Malicious:
    def __reduce__(self):
        return eval, ("1/0",)


@pytest.mark.parametrize("content", ["truncated", "pickle", "list", "tar"])
def test_files_that_are_no_state_dict_run_no_code_and_are_refused(theirs, tmp_path, content):
    path = tmp_path / "bad.p"
    if content == "truncated":
        path.write_bytes((tmp_path / "epic.p").read_bytes()[:5000])
    elif content == "tar":
        with tarfile.open(path, "w") as archive:
            archive.add(tmp_path / "config.json", arcname="config.json")
    else:
        torch.save({"a": Malicious()} if content == "pickle" else [1, 2], path)
    with pytest.raises(InputError, match="cannot read it as weights|not a state dict|has no weights.p"):
        read_state(path)


def test_a_model_of_an_experiment_starts_from_the_weights_it_names(theirs, mlm_encoder, tmp_path):
    entry = {"settings": {"formulation": "released"}, "seed": 7, "start": {"source": "path:epic.p", "md5": None}}
    model = starting_model(mlm_encoder, entry, tmp_path / "epic.p")
    assert torch.equal(model.equations.theta1.weight, theirs["query_salience.weight"]) and not model.training
    entry["start"]["md5"] = "0" * 32
    with pytest.raises(InputError, match="expected 0000"):
        starting_model(mlm_encoder, entry, tmp_path / "epic.p")
    fresh = starting_model(mlm_encoder, entry | {"start": None}, [])
    assert not torch.equal(fresh.equations.theta1.weight, theirs["query_salience.weight"])


@pytest.mark.parametrize(
    "odd",
    [
        lambda shape: torch.full(shape, float("nan")),
        lambda shape: torch.full(shape, float("inf")),
        lambda shape: torch.zeros(shape, dtype=torch.int64),
        lambda shape: torch.zeros(shape, dtype=torch.complex64),
        lambda shape: torch.zeros(shape).to_sparse(),
    ],
)
@pytest.mark.parametrize("name", ["query_salience.weight", f"{BODY}embeddings.word_embeddings.weight"])
def test_weights_that_are_no_finite_floats_are_named(released, theirs, name, odd):
    theirs[name] = odd(theirs[name].shape)
    with pytest.raises(InputError, match=rf"(?s)epic\.p is not EPIC's.*{name} holds values that are not finite numbers"):
        load_authors(released, theirs, "epic.p")


def test_names_that_are_no_texts_and_a_tar_that_unpacks_without_end_are_refused(theirs, tmp_path, monkeypatch):
    torch.save({7: torch.ones(1)}, tmp_path / "bad.p")
    with pytest.raises(InputError, match="not a state dict"):
        read_state(tmp_path / "bad.p")
    monkeypatch.setattr("epic.core.archives.ALWAYS", 1000)
    (tmp_path / "weights.p").write_bytes(bytes(1_000_000))
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "weights.p", arcname="epic/weights.p")
    with pytest.raises(InputError, match=r"bomb\.tar\.gz: unpacks to 100\d+ bytes or more"):
        read_state(tmp_path / "bomb.tar.gz")


def test_a_cut_archive_is_refused(theirs, tmp_path):
    whole = (tmp_path / "epic.msmarco.tar.gz").read_bytes()
    for length in (3, 20, len(whole) // 2):
        (tmp_path / "cut.tar.gz").write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"cut\.tar\.gz: cannot be read"):
            read_state(tmp_path / "cut.tar.gz")
