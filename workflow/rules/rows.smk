"""rows: one row of the table, as facts (JSON, deterministic) and as a page (Markdown, with latency).

in   evaluations of all test query sets, cut-off, latency, evaluations of the row's own first stage
out  results/{experiment}/rows/{row}.json, .md
"""


# Seconds: a place in a queue would take longer.
localrules:
    rows,


rule rows:
    input:
        unpack(files(inputs.row_facts, "row")),
        compared=files(inputs.own_values, "row"),
        latency=lambda wildcards: lookup.leaves(resolved(folders(page_latency(wildcards)), wildcards)),
    output:
        row="results/{experiment}/rows/{row}.json",
        page="results/{experiment}/rows/{row}.md",
    log:
        "results/{experiment}/logs/rows/{row}.log",
    conda:
        "../../environment.yml"
    params:
        row=item("row"),
        settings=of_row(lookup.row_settings),
        differs=of_row(conditions.row_conditions),
        depths=of_row(lookup.depths_of),
        latency=lambda wildcards: resolved(page_latency(wildcards), wildcards),
        tests=files(inputs.own_tests, "row"),
        alpha=setting("evaluate", "alpha"),
        note=setting("note"),
        command=lambda wildcards: deliverables.commands_of(wildcards.experiment, experiment_of(wildcards))[wildcards.row],
        code=code("rows"),
    script:
        "../scripts/rows.py"
