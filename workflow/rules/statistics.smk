"""statistics: the collection in numbers.

in   results/{experiment}/encode/{model}/{i}-of-{n}/ of the first model, and the datasets that the experiment names
out  results/{experiment}/statistics/collection.json
"""


localrules:
    statistics,


rule statistics:
    input:
        lambda wildcards: [
            file
            for name in setting("statistics", "queries")(wildcards)
            for file in files_of(wildcards, name, "queries", "qrels")
        ],
        shards=lambda wildcards: shards_of(wildcards, first_model(wildcards)),
        checkpoint=lambda wildcards: at(rules.train.output.checkpoint, wildcards, model=first_model(wildcards)),
    output:
        collection="results/{experiment}/statistics/collection.json",
    log:
        "results/{experiment}/logs/statistics/collection.log",
    conda:
        "../../environment.yml"
    params:
        datasets=lambda wildcards: [dataset_of(wildcards, name) for name in setting("statistics", "queries")(wildcards)],
        code=code("statistics"),
    script:
        "../scripts/statistics.py"
