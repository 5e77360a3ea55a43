"""retrieve: first-stage runs, BM25 by Anserini, one of many queries in parts; or, of a first stage that is a run file, that run.

in   results/{experiment}/index/{first_stage}/, results/{experiment}/data/{query_set}.queries.tsv; or a run file
out  results/{experiment}/retrieve/{first_stage}/{query_set}.run, .json (queries without hits); until then state/retrieve/...
"""


rule retrieve:
    input:
        unpack(files(first_stage_inputs.retrieving, "first_stage", "query_set")),
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
    threads: of_settings(rates.retrieving_threads, "first_stage")
    resources:
        heap_mb=setting("compute", "index_memory_mb"),
        mem_mb=of_settings(rates.retrieving_memory, "first_stage"),
        runtime="4h",
    params:
        bm25=of_settings(lookup.bm25_of, "first_stage"),  # as one value: params are compared without their names
        hits=item("query_set", "hits"),
        state=lambda wildcards: "results/{experiment}/state/retrieve/{first_stage}/{query_set}.run".format(**wildcards),
        code=code("retrieve"),
    script:
        "../scripts/retrieve.py"
