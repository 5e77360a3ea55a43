"""claims: the sentences of the paper, checked.

in   workflow/resources/claims.yaml, and the findings of this experiment
out  results/{experiment}/claims.json, .md
"""


# Seconds: a place in a queue would take longer.
localrules:
    claims,


rule claims:
    input:
        claims=from_here(Path(ROOT, "workflow", "resources", "claims.yaml")),
        table=rules.table.output.json,
        tests=files(inputs.headline_tests),
        collection=rules.statistics.output.collection,
        others=all_of(inputs.cutoffs, inputs.by_model, inputs.by_row),
    output:
        json="results/{experiment}/claims.json",
        md=report("results/{experiment}/claims.md", caption="../report/claims.rst", category="claims"),
    log:
        "results/{experiment}/logs/claims/claims.log",
    conda:
        "../../environment.yml"
    params:
        cutoffs=files(inputs.cutoffs),
        by_model=files(inputs.by_model),
        by_row=files(inputs.by_row),
        families=of_settings(lookup.families_of_models),
        headline=setting("evaluate", "headline"),
        measure=setting("evaluate", "measure"),
        selection=setting("evaluate", "selection"),
        differs=of_settings(conditions.conditions_by_model),
        title=setting("title"),
        note=setting("note"),
        code=code("claims"),
    script:
        "../scripts/claims.py"
