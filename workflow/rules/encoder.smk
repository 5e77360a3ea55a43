"""encoder: the pre-trained language model that models start from, checked by sha256; made once, however many models have it.

out  results/{experiment}/encoder/{encoder}/
"""


localrules:
    encoder,


rule encoder:
    output:
        folder=directory("results/{experiment}/encoder/{encoder}"),
    log:
        "results/{experiment}/logs/encoder/{encoder}.log",
    conda:
        "../../environment.yml"
    params:
        encoder=of_settings(lookup.encoder_named, "encoder"),
        code=code("encoder"),
    script:
        "../scripts/encoder.py"
