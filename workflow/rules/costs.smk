"""costs: what pre-computing the passage vectors of a model takes.

in   results/{experiment}/encode/{model}/{i}-of-{n}.pace.json, results/{experiment}/prune/{model}/{keep}/
out  results/{experiment}/costs/{model}.json
"""


rule costs:
    input:
        paces=lambda wildcards: shards_of(wildcards, wildcards.model, rules.encode.output.pace),
        shards=lambda wildcards: shards_of(wildcards, wildcards.model),
        stores=lambda wildcards: list(stores_of(wildcards).values()),
    output:
        costs="results/{experiment}/costs/{model}.json",
    log:
        "results/{experiment}/logs/costs/{model}.log",
    conda:
        "../../environment.yml"
    params:
        stores=stores_of,
        code=code("costs"),
    script:
        "../scripts/costs.py"
