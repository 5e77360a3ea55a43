"""experiment: the experiment as it is run, expanded and checked: every row, comparison and published value. The text to diff.

in   workflow/experiments/{experiment}.yaml, workflow/resources/published.yaml
out  results/{experiment}/experiment.yaml
"""


# Seconds: a place in a queue would take longer.
localrules:
    experiment,


rule experiment:
    output:
        yaml="results/{experiment}/experiment.yaml",
    log:
        "results/{experiment}/logs/experiment/experiment.log",
    conda:
        "../../environment.yml"
    params:
        settings=experiment_of,
        code=code("experiment"),
    script:
        "../scripts/experiment.py"
