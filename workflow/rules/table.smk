"""table: all rows in the paper's order and grouping.

in   results/{experiment}/rows/*.json, latency/*.json, significance/*.json
out  results/{experiment}/table.md, .tex, .csv, .json
"""


# Seconds: a place in a queue would take longer.
localrules:
    table,


rule table:
    input:
        rows=all_of(inputs.rows),
        latencies=all_of(inputs.latencies),
        tests=all_of(inputs.tests),
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
        latencies=files(inputs.latencies),
        tests=files(inputs.tests),
        headline=setting("evaluate", "headline"),
        measure=setting("evaluate", "measure"),
        title=setting("title"),
        note=setting("note"),
        code=code("table"),
    script:
        "../scripts/table.py"
