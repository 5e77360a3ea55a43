"""Train a weighter."""

from epic.core.stage import stage
from epic.corpus.documents import open_documents
from epic.model.device import prepare
from epic.model.term_weights import load_term_weights
from epic.training.regress import trained, write_portions
from epic.training.resume import key_of

with stage(snakemake):
    files, params = snakemake.input, snakemake.params
    weighter, train = params.weighter, params.weighter["train"]
    device = prepare(params.device, train["threads"] if train else 1)
    model = load_term_weights(files.encoder, weighter["max_pieces"], train and train["seed"]).to(device)
    key = key_of([weighter, params.device, params.code], files)
    history = trained(model, files.labels, open_documents(files.manifest), train, params.state, key)
    model.save(snakemake.output.checkpoint)
    write_portions(history, snakemake.output.history)
