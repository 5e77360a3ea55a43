"""EPIC as a family: passages are vectors over the vocabulary, made beforehand; a few of their entries score a query."""

from contextlib import contextmanager
from pathlib import Path

PRECOMPUTES = True
STAGES = {"beside": [["retrieve", "load"], ["query_vector"]], "after": ["score"]}
SETTINGS = {
    "properties": {
        "settings": {
            "type": "object",
            "additionalProperties": False,
            "required": ["formulation"],
            "properties": {
                "formulation": {"enum": ["paper", "released"]},
                "released_batches": {
                    "type": "boolean",
                    "description": "true encodes texts as in the released code's batches, [SEP] behind the padding; else false",
                },
            },
        },
        "encoder": {"type": "object", "description": "EPIC starts from a pre-trained encoder"},
    },
    "allOf": [
        {
            "if": {"properties": {"start": {"type": "object"}}},
            "then": {
                "properties": {
                    "settings": {
                        "properties": {
                            "formulation": {
                                "const": "released",
                                "description": "the authors' weights are of the formulation released",
                            }
                        }
                    }
                }
            },
        },
        {
            "if": {
                "properties": {
                    "settings": {"properties": {"released_batches": {"const": True}}, "required": ["released_batches"]}
                }
            },
            "then": {
                "properties": {
                    "start": {"type": "object", "description": "released_batches is for the authors' weights"},
                    "loss": {"const": None, "description": "released_batches is for weights that are not trained here"},
                }
            },
        },
    ],
}
NEW_LAYERS = ("equations.theta1", "equations.theta3", "equations.theta4")


def create(encoder, model: dict, start, device: str):
    """Make a ranker from the pre-trained encoder with new layers, or from the authors' finished weights."""
    from epic.model.authors_weights import starting_model

    return starting_model(encoder, model, start, device)


def load(checkpoint, compute: dict):
    """Load a trained model, ready for inference."""
    from epic.model.epic import load_model

    return load_model(checkpoint, compute)


def save(ranker, out, readme) -> None:
    """Write a checkpoint, and beside the weights the graph of the query side."""
    from epic.model.query_onnx_export import export

    ranker.save_pretrained(out, readme)
    export(out)


def card(model: dict) -> dict:
    """Return the contents of the model card."""
    return {
        "title": f"EPIC, formulation `{model['settings']['formulation']}`",
        "text": "Passage re-ranking by Expansion via Prediction of Importance with Contextualization (SIGIR 2020).",
        "use": [
            "from epic import Epic",
            "",
            'model = Epic.from_pretrained("this folder")',
            'model.score("a query", ["a passage", "another"])',
        ],
    }


def pair_scores(ranker, examples: list, limit: int | None):
    """Return scores of the relevant and the other passage of each example; each query is encoded once."""
    queries = ranker.query_tokens(ranker.pieces(example.query for example in examples))  # B queries
    texts = [text for example in examples for text in (example.relevant, example.other)]
    passages = ranker.passage_tokens(ranker.pieces(texts, limit))  # 2B passages
    return ranker.similarities(queries, passages)  # (B, 2)


def score(ranker, run: dict, queries: dict[str, str], documents, budget: int) -> dict:
    """Return the run with sim(q, d) of unpruned vectors."""
    from epic.model.query_torch import query_vector
    from epic.vectors.unpruned_scores import unpruned_scores

    vectors = {query_id: query_vector(ranker, queries[query_id]) for query_id in run}
    return unpruned_scores(ranker, documents, vectors, run, budget)


def score_run(run: dict, files, compute: dict, budget: int) -> dict:
    """Return the run with sim(q, d) from an experiment's files, with the query vectors that `weigh` made.

    Where encoding scored the run's candidates on the way, the scores are read; torch is not imported.
    """
    from epic.vectors.scored_pairs import opened

    scored = opened(files)
    pairs = scored and scored.pairs_of(files.vectors)
    if pairs:
        from epic.corpus.documents import open_documents
        from epic.model.checkpoint import model_digest

        scored.refuse_another_model(model_digest(files.checkpoint))
        return scored.run(run, pairs, open_documents(files.manifest))
    from epic.vectors.unpruned_scores import unpruned_run

    return unpruned_run(run, files.vectors, files.checkpoint, files.manifest, compute, budget)


def score_stored(run: dict, files, compute: dict) -> dict:
    """Return the run with sim(q, d) of stored, pruned vectors; torch is not imported."""
    from epic.model.query_vector import read_vectors
    from epic.vectors.pruned_scores import pruned_scores
    from epic.vectors.store import open_store

    return pruned_scores(open_store(files.store, files.checkpoint), read_vectors(files.vectors), run, compute["threads"])


def timed(search, files, queries: dict[str, str], row: dict, settings: dict, bench):
    """Set up a row at query time."""
    return Timed(search, files, queries, settings, bench)


class Timed:
    """A row at query time; its query vector is computed beside retrieval and loading of passage vectors, as the paper describes.

    Files can be closed and opened again, the model stays in memory. A row that keeps all terms has no store: the unpruned
    vectors of the candidates of all such rows of a model, known from their first-stage runs, are written once to the bench.
    """

    def __init__(self, search, files, queries: dict[str, str], settings: dict, bench):
        from epic.model.weigh import query_encoder
        from epic.vectors.at_query_time import DenseVectors
        from epic.vectors.store import open_store

        self.search, self.store, self.dense = search, None, None
        self.encode = bench.once(("query", files.checkpoint), lambda: query_encoder(files.checkpoint, settings["compute"]))
        if files.store:
            store = open_store(files.store, files.checkpoint)
            self.store, self.folders = store.path, list(dict.fromkeys(file.parent for file in store.files))
        else:
            self.dense = bench.once(("dense", files.checkpoint), lambda: DenseVectors(files, settings, bench.scratch))
            self.dense.want(files, queries)

    @property
    def on_disk(self) -> list[Path]:
        """Files and folders that are read at query time besides the index: of a store only the layers of its number of terms.

        Unpruned vectors are written when they are first asked for.
        """
        return [self.dense.written()] if self.dense else self.folders

    @contextmanager
    def opened(self):
        """Yield a function that times one query."""
        from concurrent.futures import ThreadPoolExecutor

        from epic.vectors.at_query_time import dense_loader, pruned_loader, rerank_timing
        from epic.vectors.store import Store

        load = pruned_loader(Store(self.store)) if self.store else dense_loader(self.dense.written(), self.dense.doc_ids)
        try:
            with ThreadPoolExecutor(1) as pool:
                yield lambda text: rerank_timing(self.search, self.encode, load, text, pool)
        finally:
            load = None  # a caller that still holds the function must not keep the file mapped
