"""Write the report."""

import os

from epic.core.stage import stage
from epic.report.differences import differing
from epic.report.report import write_report

with stage(snakemake):
    files, params = snakemake.input, snakemake.params
    write_report(
        files=params.files | {"deviations": files.deviations},
        commands=params.commands,
        differences=differing(params.settings, params.paper),
        figures=files.figures,
        folder=os.path.dirname(files.page[0]),
        out=snakemake.output.page,
    )
