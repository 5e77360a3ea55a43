"""rerank: runs of the rows that combine a first stage with a model, from stored vectors or, unpruned, without a store.

in   a first-stage run, its tuned cut-off, query vectors, the checkpoint, and a pruned store unless all terms are kept
out  results/{experiment}/rerank/{row}/{query_set}.run
"""


rule rerank:
    input:
        unpack(files(inputs.reranking, "row", "query_set")),
        unpack(scored),
        manifest=rules.data.output.manifest,
        queries=rules.queries.output.queries,
    output:
        run="results/{experiment}/rerank/{row}/{query_set}.run",
    log:
        "results/{experiment}/logs/rerank/{row}/{query_set}.log",
    benchmark:
        "results/{experiment}/benchmarks/rerank/{row}/{query_set}.tsv"
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=gpus_of_scoring,
        mem_mb=lambda wildcards: rates.reranking_memory(experiment_of(wildcards), item_of(wildcards, "row"), wildcards.query_set),
        runtime="24h",  # unpruned, with millions of candidates
        token_budget=setting("encode", "token_budget"),
    params:
        tail=setting("rerank", "tail"),
        family=of_row(lookup.family_of_row),
        compute=of_settings(lookup.compute_of),
        code=code_of("rerank", model_named),
    script:
        "../scripts/rerank.py"
