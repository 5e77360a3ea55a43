"""figures: the paper's figures.

in   results/{experiment}/frequencies/{model}.tsv
out  results/{experiment}/figures/frequencies-{model}.png, .pdf
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
