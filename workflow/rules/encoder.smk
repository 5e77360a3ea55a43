"""encoder: the pre-trained language model that a model starts from, checked by sha256.

out  results/{experiment}/encoder/{model}/
"""


localrules:
    encoder,


rule encoder:
    output:
        folder=directory("results/{experiment}/encoder/{model}"),
    log:
        "results/{experiment}/logs/encoder/{model}.log",
    conda:
        "../../environment.yml"
    params:
        encoder=item("model", "encoder"),
        code=code("encoder"),
    script:
        "../scripts/encoder.py"
