"""table: all rows in the paper's order and grouping.

in   results/{experiment}/rows/*.json, latency/*.json, significance/*.json
out  results/{experiment}/table.md, .tex, .csv, .json
"""


# Seconds: a place in a queue would take longer.
localrules:
    table,


rule table:
    input:
        rows=lambda wildcards: leaves(rows_of(wildcards)),
        latencies=lambda wildcards: leaves(timed_rows(wildcards)),
        tests=lambda wildcards: leaves(tested_sets(wildcards)),
    output:
        md=report("results/{experiment}/table.md", caption="../report/table.rst", category="table"),
        tex="results/{experiment}/table.tex",
        csv="results/{experiment}/table.csv",
        json="results/{experiment}/table.json",
    log:
        "results/{experiment}/logs/table/table.log",
    conda:
        "../../environment.yml"
    params:
        latencies=timed_rows,
        tests=tested_sets,
        headline=setting("evaluate", "headline"),
        title=setting("title"),
        note=setting("note"),
        code=code("table"),
    script:
        "../scripts/table.py"
