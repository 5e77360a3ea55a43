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
        lambda wildcards: files_of(experiment_of(wildcards)["data"]["documents"], "docs"),
    output:
        manifest="results/{experiment}/data/manifest.json",
    log:
        "results/{experiment}/logs/data/documents.log",
    conda:
        "../../environment.yml"
    params:
        documents=setting("data", "documents"),
        total=setting("data", "count"),
        code=code("data"),
    script:
        "../scripts/data.py"


rule queries:
    input:
        lambda wildcards: files_of(item_of(wildcards, "query_set", wildcards.query_set)["dataset"], "queries", "qrels"),
        manifest=rules.data.output.manifest,
    output:
        queries="results/{experiment}/data/{query_set}.queries.tsv",
        qrels="results/{experiment}/data/{query_set}.qrels.txt",
    log:
        "results/{experiment}/logs/data/{query_set}.log",
    conda:
        "../../environment.yml"
    params:
        dataset=item("query_set", "dataset"),
        code=code("queries"),
    script:
        "../scripts/queries.py"
