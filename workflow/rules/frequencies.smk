"""frequencies: frequencies of the values in the passage vectors, over all passages and the whole vocabulary.

in   results/{experiment}/encode/{model}/{i}-of-{n}/
out  results/{experiment}/frequencies/{model}.tsv
"""


rule frequencies:
    input:
        shards=files(vector_inputs.shards, "model"),
    output:
        counts="results/{experiment}/frequencies/{model}.tsv",
    log:
        "results/{experiment}/logs/frequencies/{model}.log",
    conda:
        "../../environment.yml"
    params:
        code=code("frequencies"),
    script:
        "../scripts/frequencies.py"
