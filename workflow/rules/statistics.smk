"""statistics: the collection in numbers.

in   results/{experiment}/encode/{model}/{i}-of-{n}/ of the first model, and the datasets that the experiment names
out  results/{experiment}/statistics/collection.json
"""


localrules:
    statistics,


rule statistics:
    input:
        all_of(inputs.counted_queries),
        unpack(files(vector_inputs.counting)),
        manifest=rules.data.output.manifest,
    output:
        collection="results/{experiment}/statistics/collection.json",
    log:
        "results/{experiment}/logs/statistics/collection.log",
    conda:
        "../../environment.yml"
    params:
        datasets=lambda wildcards: [
            dataset_of(name, wildcards.experiment) for name in setting("statistics", "queries")(wildcards)
        ],
        code=code("statistics"),
    script:
        "../scripts/statistics.py"
