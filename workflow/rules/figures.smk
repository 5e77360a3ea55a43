"""figures: the paper's figures, and the course of training.

in   results/{experiment}/frequencies/{model}.tsv, results/{experiment}/train/{model}/history.tsv
out  results/{experiment}/figures/frequencies-{model}.png, training-{model}.png; .pdf
"""


rule figures:
    input:
        counts=rules.frequencies.output.counts,
    output:
        png=report(
            "results/{experiment}/figures/frequencies-{model}.png", caption="../report/frequencies.rst", category="figures"
        ),
        pdf="results/{experiment}/figures/frequencies-{model}.pdf",
    log:
        "results/{experiment}/logs/figures/frequencies-{model}.log",
    conda:
        "../../environment.yml"
    params:
        code=code("figures"),
    script:
        "../scripts/figures.py"


rule curves:
    input:
        history=rules.train.output.history,
    output:
        png=report("results/{experiment}/figures/training-{model}.png", caption="../report/training.rst", category="figures"),
        pdf="results/{experiment}/figures/training-{model}.pdf",
    log:
        "results/{experiment}/logs/figures/training-{model}.log",
    conda:
        "../../environment.yml"
    params:
        code=code("curves"),
    script:
        "../scripts/curves.py"
