"""weigh: query vectors, the importance of each query's terms; once per model and query set, for every row.

in   results/{experiment}/train/{model}/checkpoint/, results/{experiment}/data/{query_set}.queries.tsv
out  results/{experiment}/weigh/{model}/{query_set}.jsonl
"""


rule weigh:
    input:
        checkpoint=files(vector_inputs.precomputing, "model"),
        queries=rules.queries.output.queries,
    output:
        vectors="results/{experiment}/weigh/{model}/{query_set}.jsonl",
    log:
        "results/{experiment}/logs/weigh/{model}/{query_set}.log",
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=of_settings(lookup.gpus),
        mem_mb=memory(8_000),
        runtime="4h",
    params:
        compute=of_settings(lookup.compute_of),
        code=code("weigh"),
    script:
        "../scripts/weigh.py"
