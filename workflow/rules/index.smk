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
    threads: 8
    resources:
        mem_mb=lambda wildcards: experiment_of(wildcards)["compute"]["index_memory_mb"] + 1_000,
        runtime="4h",
    params:
        memory_mb=setting("compute", "index_memory_mb"),
        code=code("index"),
    script:
        "../scripts/index.py"
