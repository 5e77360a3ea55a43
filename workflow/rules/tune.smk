"""tune: the number of first-stage hits to re-rank, chosen on the tuning queries (those of validation if there are no others).

in   results/{experiment}/train/{model}/checkpoint/, their query vectors, judgments and first-stage run
out  results/{experiment}/tune/{model}/{first_stage}.json
"""


rule tune:
    input:
        unpack(files(inputs.tuning, "model", "first_stage")),
        unpack(scored),
        manifest=rules.data.output.manifest,
    output:
        cutoff="results/{experiment}/tune/{model}/{first_stage}.json",
    log:
        "results/{experiment}/logs/tune/{model}/{first_stage}.log",
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=gpus_of_scoring,
        mem_mb=memory(16_000),
        runtime="4h",
        token_budget=setting("encode", "token_budget"),
    params:
        max_cutoff=of_settings(trained.max_cutoff, "model"),
        min_cutoff=of_settings(trained.min_cutoff, "model"),
        measure=of_settings(lookup.tuning_measure),
        family=item("model", "family"),
        compute=of_settings(lookup.compute_of),
        code=code_of("tune", model_named),
    script:
        "../scripts/tune.py"
