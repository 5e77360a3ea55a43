"""What several test modules share: a tiny random encoder, a tiny collection, and a way to call Snakemake."""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tests.processes import call, dry_run, snakemake_command

ROOT = Path(__file__).resolve().parents[1]
TINY = ROOT / "workflow" / "resources" / "tiny"
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz",
    "cost",
    "of",
    "pool",
    "##s",
    "café",
    "price",
]


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """A folder like Hugging Face's with a random BERT of 2 layers, 8 dimensions and a window of 16 positions."""
    return write_encoder(tmp_path_factory.mktemp("encoder"))


def write_encoder(folder):
    """Write such a folder."""
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    from epic.model.bert import Bert

    torch.set_num_threads(1)  # two of them spend their time waiting for each other where there are 8 dimensions
    config = {
        "model_type": "bert", "hidden_act": "gelu", "vocab_size": len(WORDS), "hidden_size": 8, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 16, "type_vocab_size": 2,
        "layer_norm_eps": 1e-12, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
        "architectures": ["BertModel"], "pad_token_id": 0,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    torch.manual_seed(1)
    save_file(Bert(config).state_dict(), folder / "model.safetensors")
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(4)  # as some encoders ship one; it must not cut anything
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture(scope="session")
def mlm_encoder(tiny_encoder, tmp_path_factory):
    """The same encoder with a random masked-language-model head, under Hugging Face's names."""
    return write_mlm_encoder(tiny_encoder, tmp_path_factory.mktemp("mlm"))


def write_mlm_encoder(encoder, folder):
    """Write such a folder from that of the encoder."""
    import torch
    from safetensors.torch import load_file, save_file

    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_bytes((encoder / name).read_bytes())
    generator = torch.Generator().manual_seed(2)
    shapes = {"transform.dense.weight": (8, 8), "transform.dense.bias": (8,), "transform.LayerNorm.weight": (8,)}
    shapes |= {"transform.LayerNorm.bias": (8,), "bias": (len(WORDS),)}
    head = {f"cls.predictions.{name}": torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    body = load_file(encoder / "model.safetensors")
    save_file({f"bert.{name}": tensor for name, tensor in body.items()} | head, folder / "model.safetensors")
    return folder


@pytest.fixture(params=["paper", "released"])
def model(mlm_encoder, request):
    """An untrained EPIC of either formulation on the random encoder, in double precision, ready for inference."""
    from epic.model.epic import EpicModel

    return EpicModel.from_encoder(mlm_encoder, request.param, seed=7).double().eval()


@pytest.fixture
def paper_model(mlm_encoder):
    """The same, of the paper's formulation."""
    from epic.model.epic import EpicModel

    return EpicModel.from_encoder(mlm_encoder, "paper", seed=7).double().eval()


@pytest.fixture
def padded_model(model):
    """The same as `model`, of an encoder whose embeddings have three rows more than its tokenizer has words."""
    from tokenizers import Tokenizer

    facts = json.loads(model.tokenizer.to_str())
    for word in WORDS[-3:]:
        del facts["model"]["vocab"][word]
    model.tokenizer = Tokenizer.from_str(json.dumps(facts))
    return model


def pytest_configure(config):
    """Keep document stores of tests out of the user's home; ir_datasets reads the variable once, when a test module imports it.

    And let Java, which runs for a second at a time here, neither compile for hours to come nor collect garbage in threads.
    """
    os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    home = tempfile.mkdtemp(prefix="ir_datasets-")
    os.environ["IR_DATASETS_HOME"] = home
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))


LONGEST = [
    "test_edits.py",
    "test_smoke.py",
    "test_restarts.py",
    "test_family.py",
    "test_dryrun.py",
]  # minutes, the first two of one run


def pytest_collection_modifyitems(items):
    """The longest files come first, then the others of the workflow and the benchmark: many short ones fill both processes to the end."""

    def place(item):
        folder, name = item.path.parent.name, item.path.name
        return LONGEST.index(name) if name in LONGEST else len(LONGEST) + (folder not in ("workflow", "bench"))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of one file run in one process, and so do the two files that look at one run of smoke."""
    from xdist.scheduler.loadfile import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).replace("/test_edits.py", "/test_smoke.py")

    return Scheduling(config, log) if config.option.dist == "loadfile" else None


def copy_repository(folder):
    """The repository without what runs left in it."""
    unwanted = shutil.ignore_patterns(".git", ".venv", ".snakemake", "__pycache__", ".*_cache")

    def ignored(path, names):
        own = {"results", "experiments", "downloads"} if Path(path) == ROOT else set()  # of the person who runs the tests
        return unwanted(path, names) | own

    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


def link_environment(folder) -> None:
    """Make this very environment the .venv of a copy, ready; `make` could clear the links, but not what they lead to."""
    (folder / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):  # Python looks for the last one beside `bin`
        (folder / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    (folder / ".venv" / ".ready").touch()


def snakemake(*arguments, directory, timeout=600, **environment):
    """Run the real Snakefile in a folder of its own; returns the finished process with all output in stdout, Snakemake's own lines too."""
    command = ["--snakefile", ROOT / "Snakefile", "--directory", directory, "--cores", "2", *arguments]
    asked, options = list(map(str, command)), {"timeout": timeout, "environment": os.environ | {"VERBOSE": "1"} | environment}
    return dry_run(*asked, **options) if "--dry-run" in asked else call(snakemake_command, *asked, **options)
