"""triples: training examples in the order in which they are used, and the queries they mention.

in   docpairs of a dataset, and the documents they name; or judgments and a first-stage run of the training queries
out  results/{experiment}/triples/{first}/triples.tsv, queries.tsv: the first so many, once for all models that want as many
"""


localrules:
    triples,


rule triples:
    input:
        unpack(files(inputs.triples)),
        manifest=rules.data.output.manifest,
    output:
        triples="results/{experiment}/triples/{first}/triples.tsv",
        queries="results/{experiment}/triples/{first}/queries.tsv",
    log:
        "results/{experiment}/logs/triples/{first}.log",
    conda:
        "../../environment.yml"
    params:
        source=setting("triples"),
        total=lambda wildcards: int(wildcards.first),
        code=code("triples"),
    script:
        "../scripts/triples.py"
