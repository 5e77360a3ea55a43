"""rerank: runs of the rows that combine a first stage with EPIC, from stored vectors or, unpruned, without a store.

in   a first-stage run, its tuned cut-off, query vectors, the checkpoint, and a pruned store unless all terms are kept
out  results/{experiment}/rerank/{row}/{query_set}.run
"""


rule rerank:
    input:
        manifest=rules.data.output.manifest,
        checkpoint=of_row(rules.train.output.checkpoint),
        store=store_of,
        cutoff=of_row(rules.tune.output.cutoff),
        vectors=of_row(rules.weigh.output.vectors),
        run=of_row(rules.retrieve.output.run),
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
        gpu=reranking_gpu,
        mem_mb=memory(16_000),
        runtime="24h",  # unpruned, with millions of candidates
    params:
        tail=setting("rerank", "tail"),
        compute=compute,
        token_budget=setting("encode", "token_budget"),
        code=code("rerank"),
    script:
        "../scripts/rerank.py"
