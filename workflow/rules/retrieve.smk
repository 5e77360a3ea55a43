"""retrieve: first-stage runs, BM25 by Anserini; one of many queries is made in parts, and goes on after the last one.

in   results/{experiment}/index/{first_stage}/, results/{experiment}/data/{query_set}.queries.tsv
out  results/{experiment}/retrieve/{first_stage}/{query_set}.run, .json (queries without hits); until then state/retrieve/...
"""


rule retrieve:
    input:
        lucene=rules.index.output.lucene,
        queries=rules.queries.output.queries,
        counts=rules.queries.output.counts,
    output:
        run="results/{experiment}/retrieve/{first_stage}/{query_set}.run",
        answers="results/{experiment}/retrieve/{first_stage}/{query_set}.json",
    log:
        "results/{experiment}/logs/retrieve/{first_stage}/{query_set}.log",
    benchmark:
        "results/{experiment}/benchmarks/retrieve/{first_stage}/{query_set}.tsv"
    conda:
        "../../environment.yml"
    threads: lambda wildcards: rates.java_threads(setting("data", "count")(wildcards), 2)
    resources:
        heap_mb=setting("compute", "index_memory_mb"),
        mem_mb=lambda wildcards: rates.java_memory(setting("compute", "index_memory_mb")(wildcards)),
        runtime="4h",
    params:
        bm25=of_settings(lookup.bm25_of, "first_stage"),  # as one value: params are compared without their names
        hits=item("query_set", "hits"),
        state=lambda wildcards: "results/{experiment}/state/retrieve/{first_stage}/{query_set}.run".format(**wildcards),
        code=code("retrieve"),
    script:
        "../scripts/retrieve.py"
