"""significance: every declared comparison on one query set.

in   results/{experiment}/evaluate/{row}/{query_set}.tsv of all rows that are compared
out  results/{experiment}/significance/{query_set}.json
"""


rule significance:
    input:
        values=lambda wildcards: list(compared_values(wildcards).values()),
    output:
        tests="results/{experiment}/significance/{query_set}.json",
    log:
        "results/{experiment}/logs/significance/{query_set}.log",
    conda:
        "../../environment.yml"
    params:
        families=families_of,
        values=compared_values,
        metric=lambda wildcards: metric_of(wildcards, wildcards.query_set),
        alpha=setting("evaluate", "alpha"),
        code=code("significance"),
    script:
        "../scripts/significance.py"
