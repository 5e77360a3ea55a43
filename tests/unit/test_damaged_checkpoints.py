"""Every family's checkpoint, damaged file by file: `load_ranker` names the file in one line, and never fails in another way."""

import json
import shutil

import pytest

from epic import load_ranker
from epic.core.files import InputError
from epic.rankers import cross_encoder, duet, tk
from epic.rankers import epic as epic_family
from tests import tk as small_tk
from tests import words as small_duet
from tests.conftest import write_encoder, write_mlm_encoder
from tests.cross_encoders import ENTRY

CROSS = ENTRY | {"settings": {"query_pieces": 4, "total_pieces": 15}}  # the tiny encoder has 16 positions
WEIGHTS = "model.safetensors"
OF_WORDS = ["ranker.json", "vocabulary.json", "words.tsv", WEIGHTS]
FILES = {
    "epic": ["epic.json", "config.json", "tokenizer.json", WEIGHTS],
    "tk": OF_WORDS,
    "duet": OF_WORDS,
    "cross_encoder": ["ranker.json", "config.json", "tokenizer.json", WEIGHTS],
}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """A checkpoint of every family, by its name."""
    folder = tmp_path_factory.mktemp("checkpoints")
    for name in ("encoder", "mlm"):
        (folder / name).mkdir()
    encoder, words = write_encoder(folder / "encoder"), small_duet.write_vocabulary(folder / "words")
    released = {"settings": {"formulation": "released"}, "seed": 1}
    made = {
        "epic": (epic_family, write_mlm_encoder(encoder, folder / "mlm"), released),
        "tk": (tk, small_tk.write_vocabulary(folder / "tk-words"), small_tk.entry()),
        "duet": (duet, words, small_duet.duet_model(members=2)),
        "cross_encoder": (cross_encoder, encoder, CROSS),
    }
    for name, (family, start, entry) in made.items():
        family.save(family.create(start, entry, None, "cpu"), folder / name, str)
    return folder


@pytest.fixture
def copy(checkpoints, tmp_path):
    """A copy of a family's checkpoint, to be damaged."""
    return lambda family: shutil.copytree(checkpoints / family, tmp_path / family)


def refusal(folder, *names):
    """Load a checkpoint and return the error, one line that names one of the files."""
    with pytest.raises(InputError) as error:
        load_ranker(folder)
    said = str(error.value)
    assert "\n" not in said and any(str(folder / name) in said for name in names), said
    return said


@pytest.mark.parametrize("family", FILES)
def test_whole_checkpoints_are_loaded(checkpoints, family):
    assert load_ranker(checkpoints / family).score("price of pool", ["a pool", ""]).shape == (2,)


def replaced_by_a_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "missing": lambda path: path.unlink(),
    "a folder": replaced_by_a_folder,
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "cut by a byte": lambda path: path.write_bytes(path.read_bytes().rstrip()[:-1]),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "garbled": lambda path: path.write_bytes(bytes(range(255, 0, -1)) * 9),
    "a page": lambda path: path.write_text("<html>not found</html>"),
    "another value": lambda path: path.write_text("[]"),
    "null": lambda path: path.write_text("null"),
    "nothing in it": lambda path: path.write_text("{}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("family", "name"), [(family, name) for family, names in FILES.items() for name in names])
def test_a_damaged_file_is_refused_by_its_name(copy, family, name, damage):
    folder = copy(family)
    DAMAGES[damage](folder / name)
    if (damage, name) in (("missing", "ranker.json"), ("missing", "epic.json")):
        with pytest.raises(InputError, match=r"no checkpoint \(neither epic\.json nor ranker\.json\)"):
            load_ranker(folder)
    elif (damage, family, name) == (
        "cut by a byte",
        "duet",
        "words.tsv",
    ):  # its last number is shorter: no list of words can tell
        load_ranker(folder)
    else:
        refusal(folder, name)


@pytest.mark.parametrize("family", FILES)
def test_a_file_in_the_place_of_a_checkpoint_is_refused(copy, family, tmp_path):
    for path in (copy(family) / WEIGHTS, tmp_path / "nowhere"):
        with pytest.raises(InputError, match=f"{path}: no checkpoint"):
            load_ranker(path)


def changed(path, **keys):
    """Change keys of a JSON file; None takes one away."""
    facts = json.loads(path.read_text()) | keys
    path.write_text(json.dumps({key: value for key, value in facts.items() if value is not None}))


ODD = (None, "x", 1.5, -1, 10**15, [1], {"a": 1}, True)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"family": "nope"}, "there is no family nope; there are cross_encoder, duet, epic, tk"),
        ({"family": "no.such.module"}, "there is no family no.such.module"),
        ({"family": "epic.rankers.tk"}, "name a family of this package by its last word: tk"),
        *[({"family": value}, "it names no family") for value in (None, 3, ["tk"])],
        *[({"files": value}, "it does not say which files the checkpoint has") for value in (None, 3, "words.tsv", [1], {})],
        ({"files": ["../words.tsv"]}, "there is no such file"),
        *[({"settings": value}, "settings") for value in (None, 3, "x", [], {}, {"a": 1})],
    ],
)
@pytest.mark.parametrize("family", ["tk", "duet", "cross_encoder"])
def test_a_ranker_json_that_says_something_odd_is_refused(copy, family, keys, said):
    folder = copy(family)
    changed(folder / "ranker.json", **keys)
    assert said in refusal(folder, "ranker.json", "../words.tsv")


@pytest.mark.parametrize("family", ["tk", "duet", "cross_encoder"])
def test_every_setting_of_a_ranker_json_is_there_and_of_its_kind(copy, family):
    folder = copy(family)
    settings = json.loads((folder / "ranker.json").read_text())["settings"]
    for key, right in settings.items():
        for odd in ODD:
            others = {name: value for name, value in settings.items() if name != key}
            changed(folder / "ranker.json", settings=others | ({} if odd is None else {key: odd}))
            assert "settings" in refusal(folder, "ranker.json"), (key, odd, right)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("tk", {"layers": 3}),
        ("tk", {"feed_forward": 6}),
        ("tk", {"dimensions": 10}),
        ("duet", {"members": 3}),
        ("duet", {"members": 1}),
        ("duet", {"hidden": 7}),
        ("duet", {"passage_words": 10}),
        ("duet", {"dimensions": 5}),
    ],
)
def test_settings_of_other_weights_are_refused_by_both_names(copy, family, settings):
    folder = copy(family)
    said = json.loads((folder / "ranker.json").read_text())["settings"]
    changed(folder / "ranker.json", settings=said | settings)
    assert "ranker.json speaks of others" in refusal(folder, WEIGHTS)


@pytest.mark.parametrize(
    ("family", "settings", "said"),
    [
        ("tk", {"projection": 5}, "settings.projection: heads (2) must divide projection (5)"),
        ("duet", {"passage_words": 6}, "settings.passage_words: a passage of 6 words has no pool of 5 windows"),
        ("cross_encoder", {"query_pieces": 12}, "settings.query_pieces: of 15 word-pieces in all"),
        ("cross_encoder", {"total_pieces": 17}, "settings.total_pieces: 17 word-pieces are more than the 16 positions"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(copy, family, settings, said):
    folder = copy(family)
    of_model = json.loads((folder / "ranker.json").read_text())["settings"]
    changed(folder / "ranker.json", settings=of_model | settings)
    assert said in refusal(folder, "ranker.json")


@pytest.mark.parametrize("family", ["epic", "cross_encoder"])
def test_every_size_of_a_config_json_is_that_of_the_weights(copy, family):
    folder = copy(family)
    right = json.loads((folder / "config.json").read_text())
    for key in right.keys() - {"architectures", "pad_token_id", "model_type", "hidden_act"}:
        with_default = key in ("type_vocab_size", "layer_norm_eps", "hidden_dropout_prob", "attention_probs_dropout_prob")
        for odd in (*ODD[with_default:], 0, 3):
            if (odd, key) in [(0, "layer_norm_eps"), *((0, name) for name in right if name.endswith("dropout_prob"))]:
                continue
            (folder / "config.json").write_text(json.dumps(right))
            changed(folder / "config.json", **{key: odd})
            refusal(folder, "config.json")


@pytest.mark.parametrize("family", ["epic", "cross_encoder"])
@pytest.mark.parametrize(
    "keys", [{"model_type": None}, {"model_type": ["bert"]}, {"architectures": [1]}, {"hidden_act": "relu6"}]
)
def test_a_config_json_of_another_kind_is_refused(copy, family, keys):
    folder = copy(family)
    changed(folder / "config.json", **keys)
    refusal(folder, "config.json", WEIGHTS)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        *[({"formulation": value}, "expected paper or released") for value in (None, "other", 3, ["paper"], {})],
        ({"formulation": "paper"}, "weights are missing); epic.json or config.json speaks of others"),
        ({"vocabulary": 38}, "vocabulary 38, but 37 in config.json"),
        ({"vocabulary": "37"}, "vocabulary '37', but 37"),
        ({"released_batches": "yes"}, "expected paper or released, and true or false"),
    ],
)
def test_an_epic_json_that_says_something_odd_is_refused(copy, keys, said):
    folder = copy("epic")
    changed(folder / "epic.json", **keys)
    assert said in refusal(folder, "epic.json", WEIGHTS)


@pytest.mark.parametrize("family", ["epic", "cross_encoder"])
def test_a_tokenizer_of_another_model_is_refused(copy, family):
    folder = copy(family)
    facts = json.loads((folder / "tokenizer.json").read_text())
    facts["model"]["vocab"]["more"] = 37
    (folder / "tokenizer.json").write_text(json.dumps(facts))
    assert "38 word-pieces, but the model has embeddings of 37" in refusal(folder, "tokenizer.json")


@pytest.mark.parametrize("family", FILES)
def test_weights_of_another_family_are_refused(checkpoints, copy, family):
    folder, other = copy(family), {"tk": "duet", "duet": "tk", "epic": "tk", "cross_encoder": "tk"}[family]
    shutil.copyfile(checkpoints / other / WEIGHTS, folder / WEIGHTS)
    refusal(folder, WEIGHTS, "config.json")
