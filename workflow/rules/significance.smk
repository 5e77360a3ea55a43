"""significance: a paired t-test of two rows.

in   results/{experiment}/evaluate/{row}/{query_set}.tsv, results/{experiment}/evaluate/{baseline}/{query_set}.tsv
out  results/{experiment}/significance/{query_set}/{row}-vs-{baseline}.json
"""


rule significance:
    input:
        system=rules.evaluate.output.values,
        baseline="results/{experiment}/evaluate/{baseline}/{query_set}.tsv",
    output:
        test="results/{experiment}/significance/{query_set}/{row}-vs-{baseline}.json",
    log:
        "results/{experiment}/logs/significance/{query_set}/{row}-vs-{baseline}.log",
    conda:
        "../../environment.yml"
    params:
        alpha=setting("evaluate", "alpha"),
        code=code("significance"),
    script:
        "../scripts/significance.py"
