"""significance: every declared comparison on one query set.

in   results/{experiment}/evaluate/{row}/{query_set}.tsv of all rows that are compared; results/{experiment}/data/{query_set}.counts.json
out  results/{experiment}/significance/{query_set}.json
"""


rule significance:
    input:
        counts=rules.queries.output.counts,
        values=lambda wildcards: list(files(inputs.compared_values, "query_set")(wildcards).values()),
    output:
        tests="results/{experiment}/significance/{query_set}.json",
    log:
        "results/{experiment}/logs/significance/{query_set}.log",
    conda:
        "../../environment.yml"
    params:
        families=of_settings(lookup.comparisons_on, "query_set"),
        values=files(inputs.compared_values, "query_set"),
        metric=of_settings(lookup.metric_of, "query_set"),
        alpha=setting("evaluate", "alpha"),
        code=code("significance"),
    script:
        "../scripts/significance.py"
