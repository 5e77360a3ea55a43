"""train: EPIC from a pre-trained encoder, on triples, chosen on the validation queries; goes on where it was cut off.

in   results/{experiment}/encoder/{model}/, triples, validation queries with their first-stage run
out  results/{experiment}/train/{model}/checkpoint/, history.tsv; until then results/{experiment}/state/train/{model}/
"""


rule train:
    input:
        manifest=rules.data.output.manifest,
        encoder=rules.encoder.output.folder,
        start=start_of,
        triples=rules.triples.output.triples,
        queries=rules.triples.output.queries,
        validation_queries=validation(rules.queries.output.queries),
        validation_qrels=validation(rules.queries.output.qrels),
        validation_run=validation(rules.retrieve.output.run),
    output:
        checkpoint=directory("results/{experiment}/train/{model}/checkpoint"),
        history="results/{experiment}/train/{model}/history.tsv",
    log:
        "results/{experiment}/logs/train/{model}.log",
    benchmark:
        "results/{experiment}/benchmarks/train/{model}.tsv"
    conda:
        "../../environment.yml"
    threads: setting("train", "threads")
    resources:
        gpu=gpu,
        mem_mb=memory(16_000),
        runtime="24h",
    params:
        model=item("model"),
        train=setting("train"),
        data=lambda wildcards: {key: experiment_of(wildcards)[key] for key in ("data", "triples")},
        device=setting("compute", "device"),
        state=lambda wildcards: at("results/{experiment}/state/train/{model}", wildcards, model=wildcards.model),
        relevance=relevance_of(validation_set),
        code=code("train"),
    script:
        "../scripts/train.py"
