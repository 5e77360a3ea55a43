"""tune: how many first-stage hits to re-rank, chosen on the tuning queries (those of validation where there are no others).

in   results/{experiment}/train/{model}/checkpoint/, their query vectors, judgments and first-stage run
out  results/{experiment}/tune/{model}/{first_stage}.json
"""


rule tune:
    input:
        manifest=rules.data.output.manifest,
        checkpoint=rules.train.output.checkpoint,
        vectors=tuning(rules.weigh.output.vectors),
        qrels=tuning(rules.queries.output.qrels),
        run=tuning(rules.retrieve.output.run),
    output:
        cutoff="results/{experiment}/tune/{model}/{first_stage}.json",
    log:
        "results/{experiment}/logs/tune/{model}/{first_stage}.log",
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=gpu,
        mem_mb=memory(16_000),
        runtime="4h",
    params:
        max_cutoff=setting("tune", "max_cutoff"),
        relevance=relevance_of(tuning_set),
        compute=compute,
        token_budget=setting("encode", "token_budget"),
        code=code("tune"),
    script:
        "../scripts/tune.py"
