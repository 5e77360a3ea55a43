"""costs: the cost of pre-computing a model's passage vectors.

in   results/{experiment}/encode/{model}/{i}-of-{n}.pace.json, results/{experiment}/prune/{model}/{keep}/
out  results/{experiment}/costs/{model}.json
"""


rule costs:
    input:
        unpack(files(vector_inputs.vectors_and_stores, "model")),
    output:
        costs="results/{experiment}/costs/{model}.json",
    log:
        "results/{experiment}/logs/costs/{model}.log",
    conda:
        "../../environment.yml"
    params:
        stores=files(vector_inputs.stores, "model"),
        code=code("costs"),
    script:
        "../scripts/costs.py"
