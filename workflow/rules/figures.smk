"""figures: the paper's figures, and figures beyond the paper's.

in   results/{experiment}/frequencies/{model}.tsv, interpret/{model}.json, train/{model}/history.tsv
     results/{experiment}/table.json, claims.json, tune/{model}/{first_stage}.json, latency/{row}.json, costs/{model}.json
out  results/{experiment}/figures/frequencies-{model}.png, words-{model}.png, training-{model}.png; .pdf
     results/{experiment}/figures/tradeoff.png, pruning.png, cutoffs.png, stages.png; .pdf
"""


# Seconds: a place in a queue would take longer.
localrules:
    figures,
    curves,
    words,
    charts,
    cutoffs,
    pruning,


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
        measure=of_settings(lookup.validation_measure),
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
        latencies=all_of(inputs.latencies),
        costs=all_of(inputs.costs),
    output:
        tradeoff=report("results/{experiment}/figures/tradeoff.png", caption="../report/tradeoff.rst", category="figures"),
        stages=report("results/{experiment}/figures/stages.png", caption="../report/stages.rst", category="figures"),
        pdfs=expand("results/{{experiment}}/figures/{name}.pdf", name=["tradeoff", "stages"]),
    log:
        "results/{experiment}/logs/figures/charts.log",
    conda:
        "../../environment.yml"
    params:
        latencies=files(inputs.latencies),
        costs=files(inputs.costs),
        before=of_settings(measurements.done_before),
        code=code("charts"),
    script:
        "../scripts/charts.py"


rule pruning:
    input:
        table=rules.table.output.json,
    output:
        png=report("results/{experiment}/figures/pruning.png", caption="../report/pruning.rst", category="figures"),
        pdf="results/{experiment}/figures/pruning.pdf",
    log:
        "results/{experiment}/logs/figures/pruning.log",
    conda:
        "../../environment.yml"
    params:
        code=code("pruning"),
    script:
        "../scripts/pruning.py"


rule cutoffs:
    input:
        claims=rules.claims.output.json,
        cutoffs=all_of(inputs.cutoffs),
    output:
        png=report("results/{experiment}/figures/cutoffs.png", caption="../report/cutoffs.rst", category="figures"),
        pdf="results/{experiment}/figures/cutoffs.pdf",
    log:
        "results/{experiment}/logs/figures/cutoffs.log",
    conda:
        "../../environment.yml"
    params:
        cutoffs=files(inputs.cutoffs),
        measure=of_settings(lookup.tuning_measure),
        code=code("cutoffs"),
    script:
        "../scripts/cutoffs.py"
