"""Write down the facts of this run."""

from epic.core.stage import stage
from epic.report.metadata import write_metadata

with stage(snakemake):
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
