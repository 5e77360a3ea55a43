"""index: Lucene indexes, built by Anserini.

in   results/{experiment}/expand/{first_stage}/
out  results/{experiment}/index/{first_stage}/
"""


rule index:
    input:
        collection=rules.expand.output.collection,
    output:
        lucene=directory("results/{experiment}/index/{first_stage}"),
    log:
        "results/{experiment}/logs/index/{first_stage}.log",
    benchmark:
        "results/{experiment}/benchmarks/index/{first_stage}.tsv"
    conda:
        "../../environment.yml"
    threads: lambda wildcards: rates.java_threads(setting("data", "count")(wildcards), 8)
    resources:
        heap_mb=setting("compute", "index_memory_mb"),
        mem_mb=lambda wildcards: rates.java_memory(setting("compute", "index_memory_mb")(wildcards)),
        runtime="4h",
    params:
        code=code("index"),
    script:
        "../scripts/index.py"
