"""Word-pieces of a collection, once for all models that start from one encoder: encoding only reads numbers.

header.json    documents, first row, digest of the tokenizer, checksums
pieces.u16     word-piece ids of all passages, one behind the other
bounds.i64     where each passage begins, and where the last ends
longest.u16    only if a model asks for them: word-pieces of the longest passage in each passage's batch of the released code
lengths.json   number, sum and sum of squares of the passages' lengths in word-pieces and in words
ids.bytes      document ids with order.i64 (`store_ids`), only if they are not the numbers from the first row on
"""

import hashlib
import logging
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from epic.core.files import InputError, read_json, replacing, sha256_of, write_json
from epic.core.log import progress
from epic.corpus.lengths import Lengths
from epic.corpus.shards import parse_shard, shard_bounds
from epic.vectors import store_ids as ids
from epic.vectors.released_batches import longest_passages

log = logging.getLogger(__name__)
FORMAT = "epic-pieces-1"
ARRAYS = {"pieces.u16": np.uint16, "bounds.i64": np.int64, "longest.u16": np.uint16}
KEYS = {"format", "documents", "start", "tokenizer", "pieces", "ids_width", "sha256"}
TEXTS_AT_A_TIME = 4_096
AGAIN = "make it again"


class Passages(NamedTuple):
    """Some passages, ready to be encoded."""

    doc_ids: list[str]
    pieces: list[list[int]]
    longest: list[int] | None  # of each passage's batch in the released code, if it is asked for


def tokenizer_digest(tokenizer: Tokenizer) -> str:
    """Return a digest of a tokenizer's rules, however its file is laid out."""
    return hashlib.sha256(tokenizer.to_str().encode()).hexdigest()


def pieces_of(tokenizer: Tokenizer, texts) -> list[list[int]]:
    """Return word-piece ids of each text, without [CLS] and [SEP]."""
    return [found.ids for found in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


class Spoken:
    """A shard of a collection whose texts become word-pieces as they are read.

    collection: what is encoded, by row; beside: the whole collection, whose order makes the batches of the released code,
    if a model asks for them.
    """

    def __init__(self, tokenizer: Tokenizer, collection, shard: str, beside=None):
        self.tokenizer, self.collection, self.name, self.beside = tokenizer, collection, shard, beside
        self.rows = shard_bounds(len(collection), *parse_shard(shard))
        self.digest = tokenizer_digest(tokenizer)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def start(self) -> int:
        """The row of the first passage."""
        return self.rows.start

    def read(self, rows: range) -> Passages:
        """Return the passages in some rows of the shard, counted from its first."""
        return self.texts(rows)[0]

    def texts(self, rows: range) -> tuple[Passages, list[str]]:
        """Return the same, and their texts."""
        found = dict(self.collection.span(range(self.start + rows.start, self.start + rows.stop)))
        pieces = pieces_of(self.tokenizer, found.values())
        longest = self.beside and longest_passages(lambda texts: pieces_of(self.tokenizer, texts), self.beside, found)
        return Passages(list(found), pieces, longest and [longest[doc_id] for doc_id in found]), list(found.values())


def tokenise(shard: Spoken, out) -> None:
    """Write the word-pieces of a shard."""
    lengths = {"word_pieces": Lengths(), "terms": Lengths()}
    with replacing(out) as draft, progress(total=len(shard), desc=f"tokenise {shard.name}", unit="passage") as bar:
        draft.mkdir()
        table, bounds, longest = ids.IdWriter(draft, shard.start), [0], []
        with open(draft / "pieces.u16", "wb") as stream:
            for start in range(0, len(shard), TEXTS_AT_A_TIME):
                some, texts = shard.texts(range(start, min(start + TEXTS_AT_A_TIME, len(shard))))
                counts = np.array([len(piece) for piece in some.pieces], dtype=np.int64)  # (n,)
                bounds += (bounds[-1] + np.cumsum(counts)).tolist()
                stream.write(np.array([piece for item in some.pieces for piece in item], dtype=np.uint16))
                longest += some.longest or []
                table.add(some.doc_ids)
                lengths["word_pieces"].add(counts.tolist())
                lengths["terms"].add(len(text.split()) for text in texts)
                bar.update(len(texts))
        np.array(bounds, dtype=np.int64).tofile(draft / "bounds.i64")
        if shard.beside:
            np.array(longest, dtype=np.uint16).tofile(draft / "longest.u16")
        write_json(draft / "lengths.json", {kind: vars(found) for kind, found in lengths.items()})
        width = table.close()
        sums = {file.name: sha256_of(file) for file in sorted(draft.iterdir())}
        header = {"format": FORMAT, "documents": table.count, "start": shard.start, "tokenizer": shard.digest}
        write_json(draft / "header.json", header | {"pieces": bounds[-1], "ids_width": width, "sha256": sums})
    log.info("shard %s: %d passages, %d word-pieces", shard.name, table.count, bounds[-1])


class Tokenised:
    """A shard whose word-pieces are read from disk; opening compares header, sizes and tokenizer."""

    def __init__(self, path, tokenizer: Tokenizer, batches: bool = False):
        self.path, self.name = Path(path), Path(path).name
        header = read_json(self.path / "header.json")
        if not isinstance(header, dict) or header.get("format") != FORMAT or not header.keys() >= KEYS:
            raise InputError(f"{path}: not the word-pieces of a shard ({FORMAT}); {AGAIN}")
        if header["tokenizer"] != tokenizer_digest(tokenizer):
            raise InputError(f"{path}: the word-pieces are another tokenizer's than the model's; {AGAIN}")
        self.documents, self.start, width = header["documents"], header["start"], header["ids_width"]
        sizes = {"pieces.u16": header["pieces"], "bounds.i64": self.documents + 1, "longest.u16": self.documents}
        self._arrays = {name: self._open(name, size) for name, size in sizes.items() if batches or name != "longest.u16"}
        named = width is not None and self.documents
        self._ids = ids.Named(path, self.documents, width) if named else ids.Numbered(self.start, self.documents)

    def _open(self, name: str, size: int) -> np.ndarray:
        path, dtype = self.path / name, np.dtype(ARRAYS[name])
        found = path.stat().st_size if path.exists() else 0
        if found != size * dtype.itemsize:
            raise InputError(f"{path}: {found} bytes, the header promises {size * dtype.itemsize}; {AGAIN}")
        return np.memmap(path, dtype, "r", shape=(size,)) if size else np.empty(0, dtype)

    def __len__(self) -> int:
        return self.documents

    def read(self, rows: range) -> Passages:
        """Return the passages in some rows of the shard, counted from its first."""
        bounds = self._arrays["bounds.i64"][rows.start : rows.stop + 1].tolist()
        pieces = self._arrays["pieces.u16"][bounds[0] : bounds[-1]].tolist()
        longest = self._arrays["longest.u16"][rows.start : rows.stop].tolist() if "longest.u16" in self._arrays else None
        cut = [pieces[start - bounds[0] : stop - bounds[0]] for start, stop in pairwise(bounds)]
        return Passages(self._ids.of(slice(rows.start, rows.stop)), cut, longest)
