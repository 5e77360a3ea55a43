"""Write the page of one model."""

from epic.core.stage import stage
from epic.report.models import write_model

with stage(snakemake):
    params = snakemake.params
    about = {key: params[key] for key in ("title", "note", "alpha", "command")} | {"chosen_by": params.measure["name"]}
    write_model(params.model, params.files, params.first, params.tests, about, snakemake.output.page)
