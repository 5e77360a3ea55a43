"""figures: the paper's figures, and what it does not show.

in   results/{experiment}/frequencies/{model}.tsv, interpret/{model}.json, train/{model}/history.tsv
     results/{experiment}/table.json, claims.json, tune/{model}/{first_stage}.json, latency/{row}.json
out  results/{experiment}/figures/frequencies-{model}.png, words-{model}.png, training-{model}.png; .pdf
     results/{experiment}/figures/tradeoff.png, pruning.png, cutoffs.png, stages.png; .pdf
"""


# Seconds: a place in a queue would take longer.
localrules:
    figures,
    curves,
    words,
    charts,


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


rule words:
    input:
        texts=rules.interpret.output.texts,
    output:
        png=report("results/{experiment}/figures/words-{model}.png", caption="../report/words.rst", category="figures"),
        pdf="results/{experiment}/figures/words-{model}.pdf",
    log:
        "results/{experiment}/logs/figures/words-{model}.log",
    conda:
        "../../environment.yml"
    params:
        code=code("words"),
    script:
        "../scripts/words.py"


rule charts:
    input:
        table=rules.table.output.json,
        claims=rules.claims.output.json,
        cutoffs=lambda wildcards: leaves(cutoffs_of(wildcards)),
        latencies=lambda wildcards: leaves(timed_rows(wildcards)),
    output:
        tradeoff=report("results/{experiment}/figures/tradeoff.png", caption="../report/tradeoff.rst", category="figures"),
        pruning=report("results/{experiment}/figures/pruning.png", caption="../report/pruning.rst", category="figures"),
        cutoffs=report("results/{experiment}/figures/cutoffs.png", caption="../report/cutoffs.rst", category="figures"),
        stages=report("results/{experiment}/figures/stages.png", caption="../report/stages.rst", category="figures"),
        pdfs=expand("results/{{experiment}}/figures/{name}.pdf", name=["tradeoff", "pruning", "cutoffs", "stages"]),
    log:
        "results/{experiment}/logs/figures/charts.log",
    conda:
        "../../environment.yml"
    params:
        cutoffs=cutoffs_of,
        latencies=timed_rows,
        code=code("charts"),
    script:
        "../scripts/charts.py"
