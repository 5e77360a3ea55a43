"""Sizes and durations: the one place for such numbers, each with its source. All are estimates.

"performance" is docs/performance.md, measured on one thread of an AMD EPYC; "measured" is a single run on the
same machine; "paper" is the authors' machine with a GeForce GTX 1080 Ti. What GPUs do is in planning.cards.
"""

from typing import NamedTuple

from epic.corpus.msmarco import QUERIES, VOCABULARY
from epic.experiment.lookup import find, is_pruned, is_replayed
from epic.experiment.word_inputs import words_of
from epic.planning import cards
from epic.planning.flop import WORD_PIECES, Shape, body


class Encoder(NamedTuple):
    """An encoder's size in bytes, its pace in seconds on one thread of a CPU, and its shape, from which follows that of a GPU."""

    memory_mb: int  # of a job that runs it, with some reserve
    weights: int  # model.safetensors
    decoder: int  # one matrix of vocabulary times width: the paper's Theta2
    passage: float  # CPU, 90 word-pieces
    query: float
    triple: float  # a training step's share
    shape: Shape


SMALLER = 0.079 / 0.340  # MiniLM takes this part of BERT-base's time (performance); also used if only one was measured
BERT_BASE = Encoder(
    memory_mb=16_000,
    weights=440_449_768,  # bert-base-uncased
    decoder=VOCABULARY * 768 * 4,
    passage=0.340,  # performance
    query=0.045,  # performance
    triple=1.9 / 8 / SMALLER,  # performance has MiniLM's: 1.9 s for 8 triples
    shape=cards.BERT_BASE,
)
MINILM = Encoder(
    memory_mb=4_000,  # measured: training 1.9 GB, encoding 0.7
    weights=90_868_376,
    decoder=VOCABULARY * 384 * 4,
    passage=0.079,
    query=0.0057,
    triple=1.9 / 8,
    shape=cards.MINILM,
)

LARGER = body(cards.BERT_LARGE, WORD_PIECES) / body(cards.BERT_BASE, WORD_PIECES)  # 3.5 times the operations of BERT-base
BERT_LARGE = Encoder(
    memory_mb=24_000,
    weights=1_340_000_000,  # as published: 1.34 GB
    decoder=VOCABULARY * 1024 * 4,
    passage=BERT_BASE.passage * LARGER,
    query=BERT_BASE.query * LARGER,
    triple=BERT_BASE.triple * LARGER,
    shape=cards.BERT_LARGE,
)


def encoder_named(source: str) -> Encoder:
    """Return an encoder's costs, by its name; an unknown one counts as BERT-base."""
    if "minilm" in source.lower():
        return MINILM
    return BERT_LARGE if "large" in source.lower() else BERT_BASE


def memory_of(model: dict) -> int:
    """Return the MB of memory that jobs of a model need; a model without an encoder is taken for small."""
    return encoder_named(model["encoder"]["source"]).memory_mb if model["encoder"] else MINILM.memory_mb


def memory_within(limit: int, models: list[dict]) -> int:
    """Return the MB of memory that a job of any of some models needs, at most a limit."""
    return min(limit, max(map(memory_of, models)))


LIMIT = 16_000  # MB of memory of a job that runs a model
HIT_IN_MEMORY = (
    400  # bytes: a first-stage hit, its score by the model and its place in the new run; measured 355 where all are scored
)
WITHOUT_MODEL = 1_000  # MB of a job that scores stored vectors, but for its run: libraries, query vectors, and a reserve


def reranking_memory(settings: dict, row: dict, query_set: str) -> int:
    """Return the MB of memory of a row's re-ranking: of a pruned row that of its run, if the number of its queries is known."""
    asked = find(settings["query_sets"], query_set, "query set")
    queries = QUERIES.get(asked["dataset"])
    if queries is None or not is_pruned(row):
        return memory_within(LIMIT, settings["models"])
    return WITHOUT_MODEL + round(queries * asked["hits"] * HIT_IN_MEMORY / 1e6)


ONE_FILE = 10_000  # passages
RUN_FILE = 4_000  # MB of memory of a job that reads a run file of some ten million hits


def java_threads(passages: int, wanted: int) -> int:
    """Return the threads of indexing or searching: a small collection is one file, and its jobs run beside each other."""
    return wanted if passages > ONE_FILE else 1


def java_memory(heap_mb: int) -> int:
    """Return the MB of memory of a job that starts Java: its heap, and the share of Java and Python beside it."""
    return heap_mb + 2_000


def retrieving_threads(settings: dict, first_stage: str) -> int:
    """Return the threads of a first stage's search; a run file is only read."""
    return 1 if is_replayed(settings, first_stage) else java_threads(settings["data"]["count"], 2)


def retrieving_memory(settings: dict, first_stage: str) -> int:
    """Return the MB of memory of a first stage's search, or of reading a run file."""
    return RUN_FILE if is_replayed(settings, first_stage) else java_memory(settings["compute"]["index_memory_mb"])


def store_memory(documents: int) -> int:
    """Return the MB of memory of the job that builds the document store: ir_datasets sorts all ids there."""
    return 1_000 + round(documents * INDEX_OF_STORE / 1e6)


def words_in(passages: float) -> float:
    """Return the number of distinct words in a collection; it grows with the square root of the passages."""
    return DISTINCT_WORDS * passages**0.5


def vocabulary_memory(settings: dict, model: str) -> int:
    """Return the MB of memory of the job that makes a vocabulary: all words are counted, and vectors are there twice."""
    words = words_of(settings, model)
    distinct = 3 * words_in(settings["data"]["count"])  # with a reserve: collections differ
    known = min(words["words"].get("most") or distinct, distinct)
    return 500 + round((COUNTED_WORD * distinct + 8 * (words["dimensions"] or 0) * known) / 1e6)


VALIDATIONS_TO_BEST = 43  # paper: the best iteration is 42, counted from 0; `patience` more follow
CUTOFF, CUTOFF_EXPANDED = 99, 15  # the authors' README: tuned on BM25 and on docTTTTTquery; ours are known only after tuning
BOUND = 4  # bytes of where a passage's word-pieces begin, of which each takes two
PAIR, PAIR_SCORE, POSITION = 12, 4, 8  # bytes of a candidate: the numbers of query and passage; its unpruned score; of a passage
CANDIDATES_BEYOND = 20  # of latency's unpruned vectors: MORE in epic.vectors.at_query_time

# Bytes.
PASSAGE = 346  # a line of MS MARCO's collection.tsv (3.06 GB), for collections that are not on disk yet
PASSAGES = {"cord19": 269_219_095 / 192_509}  # of other collections, by the first part of their ids: a line of metadata.csv
PREDICTION = 35.4  # docTTTTTquery: 40 samples of every passage are 12.5 GB
JOINED_QUERIES = 10  # doc2query: a passage's ten queries on one line
DOWNLOAD_OF_UNKNOWN_SIZE = 2e9  # assumed
JSON_LINE = 32  # around a passage's text
STORED = 416 / 346  # ir_datasets' document store for each byte of text, measured
INDEX_OF_STORE = 330  # of memory a document, while ir_datasets sorts their ids; measured with 2 million
WEIGHTED = 250 * 7  # a passage that DeepCT rewrote, assumed: weights add up to two or three words, each repeated up to 100 times
INDEXED = 0.21  # Lucene's index for each byte of text, term frequencies only: Anserini's own for MS MARCO has 627 MB
RUN_LINE, RERANKED_LINE = 42, 54  # measured
DISTINCT_WORDS = 41_729 / 15_495**0.5  # BlingFire's words in TREC DL 2020's pool; there and in BoolQ they grow by this power
COUNTED_WORD, WORD_LINE = 101, 32  # a word and its number in memory, and in words.tsv; measured
QUERY, QUERY_VECTOR, QUERY_VALUES, TRIPLE = 60, 240, 40, 26  # measured
TRAINING_STATE = 4  # times the weights: epic.training.resume keeps current and best weights and Adam's two moments
SMALL = 1_000_000  # tables, figures, logs

# Seconds.
START, START_TORCH = 2.0, 6.0  # of a job, measured
DOWNLOAD = 1 / 20e6  # a byte: 160 Mbit/s, assumed
DISK = 1 / 500e6  # a byte: a SATA SSD, assumed
REPAIR, STORE, READ = (
    1 / 10e3,
    1 / 74e3,
    1 / 37e3,
)  # a passage: ir_datasets repairs MS MARCO, builds its store, reads it; measured
PREDICTED = 0.75e-6  # to read one predicted query from a zip, measured
INDEX = 2 / (8300 * 390)  # a byte of text and thread: 8,300 passages of 390 bytes a second on two threads, measured
SEARCH = 2 * 0.050  # a query and thread: 26 to 50 ms with 1000 hits on two threads, measured on 100,000 passages
TOKENISE = 1 / 14e3  # a passage and thread: 15,495 passages of TREC DL 2020's pool, measured
COUNT_WORDS = {"blingfire": 1 / 13.8e3, "letters": 1 / 33.9e3}  # a passage, besides reading it; the same pool, measured
READ_VECTORS = {".zip": 1 / 42e6, ".txt": 1 / 185e6}  # a byte: 100,000 lines of 300 numbers of which a fifth is kept, measured
PRUNE = 24e-6  # a passage, performance
LOAD_HITS, SCORE_HITS = 2.7e-5, 1.7e-6  # a candidate: read from the disk, scored; performance
READ_LINE, WRITE_LINE, EVALUATE_LINE = 2.5e-6, 1.6e-6, 3.1e-6  # of a run, measured
DOCPAIR = 1 / 228e3  # measured
TIMED_QUERY = 0.106  # paper: the slowest row
COMPARISON = 0.5  # of two rows on 55,578 queries, measured
