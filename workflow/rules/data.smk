"""data: documents fetched, counted and indexed by id; queries and judgments as plain files.

in   the datasets that the experiment names
out  results/{experiment}/data/manifest.json
     results/{experiment}/data/{query_set}.queries.tsv, .qrels.txt
"""


localrules:
    data,
    queries,


rule data:
    input:
        lambda wildcards: files_of(wildcards, experiment_of(wildcards)["data"]["documents"], "docs"),
    output:
        manifest="results/{experiment}/data/manifest.json",
    log:
        "results/{experiment}/logs/data/documents.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=store_memory,
    params:
        documents=lambda wildcards: dataset_of(wildcards, setting("data", "documents")(wildcards)),
        total=setting("data", "count"),
        code=code("data"),
    script:
        "../scripts/data.py"


rule queries:
    input:
        lambda wildcards: files_of(wildcards, item("query_set", "dataset")(wildcards), "queries", "qrels"),
        manifest=rules.data.output.manifest,
    output:
        queries="results/{experiment}/data/{query_set}.queries.tsv",
        qrels="results/{experiment}/data/{query_set}.qrels.txt",
    log:
        "results/{experiment}/logs/data/{query_set}.log",
    conda:
        "../../environment.yml"
    params:
        dataset=lambda wildcards: dataset_of(wildcards, item("query_set", "dataset")(wildcards)),
        code=code("queries"),
    script:
        "../scripts/queries.py"
