"""train: a model from a pre-trained encoder, on triples, chosen on the validation queries; an interrupted training goes on.

in   results/{experiment}/encoder/{encoder}/, triples, validation queries with their first-stage run
out  results/{experiment}/train/{model}/checkpoint/, history.tsv; until then results/{experiment}/state/train/{model}/
"""


rule train:
    input:
        unpack(files(inputs.training, "model")),
        manifest=rules.data.output.manifest,
    output:
        checkpoint=directory("results/{experiment}/train/{model}/checkpoint"),
        history="results/{experiment}/train/{model}/history.tsv",
    log:
        "results/{experiment}/logs/train/{model}.log",
    benchmark:
        "results/{experiment}/benchmarks/train/{model}.tsv"
    conda:
        "../../environment.yml"
    threads: of_settings(trained.training_setting("threads"), "model")
    resources:
        gpu=of_settings(lookup.gpus),
        mem_mb=memory(16_000),
        runtime="24h",
        token_budget=of_settings(trained.training_setting("validation_token_budget"), "model"),
    params:
        model=lambda wildcards: lookup.training_of(item_of(wildcards, "model")),
        train=of_settings(trained.watched_training, "model"),
        data=of_settings(trained.trained_on),
        device=setting("compute", "device"),
        state=lambda wildcards: at("results/{experiment}/state/train/{model}", wildcards, model=wildcards.model),
        measure=of_settings(lookup.validation_measure),
        code=code_of("train", model_named),
    script:
        "../scripts/train.py"
