"""Encode one shard of the collection."""

from epic.core.stage import stage
from epic.experiment.settings import EncodeSettings
from epic.model.checkpoint import model_digest
from epic.model.epic import load_model
from epic.vectors.candidates import Candidates
from epic.vectors.encode import encode_shard
from epic.vectors.throughput import write_pace
from epic.vectors.tokenise import Tokenised

with stage(snakemake):
    files, compute, at_a_time = snakemake.input, snakemake.params.compute, snakemake.resources
    model = load_model(files.checkpoint, compute)
    seconds = encode_shard(
        model,
        digest=model_digest(files.checkpoint),
        shard=Tokenised(files.pieces, model.tokenizer, model.released_batches),
        settings=EncodeSettings(
            **snakemake.params.encode, token_budget=at_a_time.token_budget, vocabulary_block=at_a_time.vocabulary_block
        ),
        out=snakemake.output.vectors,
        candidates=Candidates(files.candidates) if files.candidates else None,
    )
    write_pace(seconds, compute, snakemake.output.vectors, snakemake.output.pace)
