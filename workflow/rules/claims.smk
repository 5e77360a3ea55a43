"""claims: the sentences of the paper, checked.

in   workflow/resources/claims.yaml, and what this experiment found out
out  results/{experiment}/claims.json, .md
"""


# Seconds: a place in a queue would take longer.
localrules:
    claims,


rule claims:
    input:
        claims=Path(workflow.basedir, "workflow", "resources", "claims.yaml"),
        table=rules.table.output.json,
        tests=lambda wildcards: tested_sets(wildcards)[setting("evaluate", "headline")(wildcards)],
        collection=rules.statistics.output.collection,
        others=lambda wildcards: leaves(cutoffs_of(wildcards)) + leaves(by_model(wildcards)) + leaves(by_row(wildcards)),
    output:
        json="results/{experiment}/claims.json",
        md=report("results/{experiment}/claims.md", caption="../report/claims.rst", category="claims"),
    log:
        "results/{experiment}/logs/claims/claims.log",
    conda:
        "../../environment.yml"
    params:
        cutoffs=cutoffs_of,
        by_model=by_model,
        by_row=by_row,
        headline=setting("evaluate", "headline"),
        differs=conditions_by_model,
        title=setting("title"),
        note=setting("note"),
        code=code("claims"),
    script:
        "../scripts/claims.py"
