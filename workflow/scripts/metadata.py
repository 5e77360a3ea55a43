"""Write down the facts of this run."""

from epic.core.log import log_to
from epic.report.metadata import write_metadata

with log_to(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    write_metadata(
        experiment=files.experiment,
        settings=params.settings,
        manifest=files.manifest,
        query_files=params.queries,
        checkpoints=params.checkpoints,
        rows=files.rows,
        commands=params.commands,
        stages=params.stages,
        out=snakemake.output.metadata,
    )
