"""data: documents fetched, counted and indexed by id; queries and judgments as plain files.

in   the datasets that the experiment names
out  results/{experiment}/data/manifest.json
     results/{experiment}/data/{query_set}.queries.tsv, .qrels.txt, .counts.json
"""


localrules:
    data,
    queries,


rule data:
    input:
        files(inputs.documents),
    output:
        manifest="results/{experiment}/data/manifest.json",
    log:
        "results/{experiment}/logs/data/documents.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards: rates.store_memory(setting("data", "count")(wildcards)),
    params:
        documents=dataset(setting("data", "documents")),
        field=setting("data", "field"),
        total=setting("data", "count"),
        code=code("data"),
    script:
        "../scripts/data.py"


rule queries:
    input:
        files(inputs.queries, "query_set"),
        manifest=rules.data.output.manifest,
    output:
        queries="results/{experiment}/data/{query_set}.queries.tsv",
        qrels="results/{experiment}/data/{query_set}.qrels.txt",
        counts="results/{experiment}/data/{query_set}.counts.json",
    log:
        "results/{experiment}/logs/data/{query_set}.log",
    conda:
        "../../environment.yml"
    params:
        dataset=dataset(item("query_set", "dataset")),
        code=code("queries"),
    script:
        "../scripts/queries.py"
