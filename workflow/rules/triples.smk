"""triples: training examples in the order in which they are used, and the queries they mention.

in   docpairs of a dataset, and the documents they name; or judgments and a first-stage run of the training queries
out  results/{experiment}/triples/triples.tsv, queries.tsv
"""


localrules:
    triples,


rule triples:
    input:
        unpack(files(inputs.triples)),
        manifest=rules.data.output.manifest,
    output:
        triples="results/{experiment}/triples/triples.tsv",
        queries="results/{experiment}/triples/queries.tsv",
    log:
        "results/{experiment}/logs/triples/triples.log",
    conda:
        "../../environment.yml"
    params:
        source=setting("triples"),
        total=of_settings(trained.triples_wanted),
        code=code("triples"),
    script:
        "../scripts/triples.py"
