"""models: one model on a page: its rows with published values and verdicts, tests, cut-offs, latency, its vectors, its words.

in   the rows of a model, results/{experiment}/tune/{model}/, latency/, costs/{model}.json, frequencies/{model}.tsv, interpret/{model}.json
out  results/{experiment}/models/{model}.md
"""


# Seconds: a place in a queue would take longer.
localrules:
    models,


rule models:
    input:
        lambda wildcards: lookup.leaves(resolved(folders(model_page(wildcards)), wildcards)),
        compared=files(of_model.compared, "model"),
    output:
        page="results/{experiment}/models/{model}.md",
    log:
        "results/{experiment}/logs/models/{model}.log",
    conda:
        "../../environment.yml"
    params:
        files=lambda wildcards: resolved(model_page(wildcards), wildcards),
        tests=files(of_model.tests, "model"),
        first=of_settings(of_model.own_first_stages, "model"),
        model=lambda wildcards: {key: item_of(wildcards, "model")[key] for key in ("id", "label")},
        title=setting("title"),
        note=setting("note"),
        alpha=setting("evaluate", "alpha"),
        measure=of_settings(lookup.validation_measure),
        command=lambda wildcards: deliverables.model_command(wildcards.experiment, experiment_of(wildcards), wildcards.model),
        code=code("models"),
    script:
        "../scripts/models.py"
