"""rows: one row of the table, as facts (JSON, deterministic) and as a page (Markdown, with latency).

in   evaluations of all test query sets, cut-off, latency, evaluations of the row's own first stage
out  results/{experiment}/rows/{row}.json, .md
"""


# Seconds: a place in a queue would take longer.
localrules:
    rows,
    pages,


rule rows:
    input:
        unpack(row_inputs),
    output:
        row="results/{experiment}/rows/{row}.json",
    log:
        "results/{experiment}/logs/rows/{row}.log",
    conda:
        "../../environment.yml"
    params:
        row=item("row"),
        settings=row_settings,
        differs=conditions_of,
        query_sets=scored_sets,
        code=code("rows"),
    script:
        "../scripts/rows.py"


rule pages:
    input:
        row=rules.rows.output.row,
        latency=lambda wildcards: (
            rules.latency.output.summary if item_of(wildcards, "row", wildcards.row)["kind"] in TIMED else []
        ),
        values=lambda wildcards: [test[side] for test in tests_of(wildcards) for side in ("system", "baseline")],
    output:
        page="results/{experiment}/rows/{row}.md",
    log:
        "results/{experiment}/logs/rows/{row}.page.log",
    conda:
        "../../environment.yml"
    params:
        tests=tests_of,
        alpha=setting("evaluate", "alpha"),
        note=setting("note"),
        command=lambda wildcards: commands_of(wildcards)[wildcards.row],
        code=code("pages"),
    script:
        "../scripts/pages.py"
