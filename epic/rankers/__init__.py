"""The seam for re-rankers: a family is a module that declares three literals and offers some functions.

Declared at the top of the module, as literals: they are read without importing it (`epic.experiment.families`).
    PRECOMPUTES   whether passages are encoded before any query comes: only then do encode, prune, weigh, frequencies, costs
                  and the pruning figure exist for it, and only then do its rows say how many terms they `keep`
    SETTINGS      JSON schema of its models in an experiment; `settings` holds the keys that no other family knows
    FITS          optional: rules between its sizes (`epic.experiment.fits`), kept by the check of an experiment, before any job
                  where the encoder's config.json is here, by `pairs.create` at the latest, and by `pairs.load`
    WORDS         optional: True where its models have a vocabulary of words (stage `vocabulary`), not an encoder's word-pieces
    STAGES        the stages of a query's time: {"beside": lanes of stages that run at once, "after": stages that follow}

Training; `ranker` is a torch module, whatever else it is:
    create(encoder, model, start, device)               a ranker before training; model: its entry in the experiment
    pair_scores(ranker, examples, limit)                scores (B, 2) of the relevant and the other passage of each example
    score(ranker, run, queries, documents, budget)      the run with the ranker's scores, for validation
    NEW_LAYERS                                          prefixes of weights that start at random; they have a rate of their own;
                                                        ranker.NEW_LAYERS goes before it, if the encoder decides
    SPARSE                                              optional: prefixes of embeddings whose gradients are sparse
    save(ranker, out, readme), load(checkpoint, compute) a folder with the weights; readme: from their sha256 to its README.md
    card(model)                                         the card's contents for a model: title, text, use

With an experiment's files (manifest, checkpoint, queries; if it precomputes, also vectors and store):
    score_run(run, files, compute, budget)              the run with the model's scores, for tuning and re-ranking
    score_stored(run, files, compute)                   the same from stored vectors, if it precomputes
    timed(search, files, queries, row, settings, bench)
                                                        the timing of one query: `on_disk`, the files that are read, and
                                                        `opened()`, which yields a function from a query to nanoseconds by stage;
                                                        bench.once(key, make) shares a model with rows timed beside it

A family that does no more than score pairs of texts takes its functions from `epic.rankers.pairs`, and adds the three
literals and a class `Ranker`. PRECOMPUTES means EPIC's own store and vectors: a family that has others declares False.
"""

import importlib

from epic.experiment.families import declared, module_of


def family(name: str):
    """Import the module of a family."""
    declared(name)  # refuses a family that does not exist, or declares too little
    return importlib.import_module(module_of(name))
