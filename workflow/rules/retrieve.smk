"""retrieve: first-stage runs, BM25 by Anserini.

in   results/{experiment}/index/{first_stage}/, results/{experiment}/data/{query_set}.queries.tsv
out  results/{experiment}/retrieve/{first_stage}/{query_set}.run
"""


rule retrieve:
    input:
        lucene=rules.index.output.lucene,
        queries=rules.queries.output.queries,
    output:
        run="results/{experiment}/retrieve/{first_stage}/{query_set}.run",
    log:
        "results/{experiment}/logs/retrieve/{first_stage}/{query_set}.log",
    benchmark:
        "results/{experiment}/benchmarks/retrieve/{first_stage}/{query_set}.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=lambda wildcards: experiment_of(wildcards)["compute"]["index_memory_mb"] + 1_000,
        runtime="4h",
    params:
        k1=item("first_stage", "k1"),
        b=item("first_stage", "b"),
        hits=item("query_set", "hits"),
        memory_mb=setting("compute", "index_memory_mb"),
        code=code("retrieve"),
    script:
        "../scripts/retrieve.py"
