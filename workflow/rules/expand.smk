"""expand: the documents of a first stage as JSON lines, with predicted queries appended where it has any.

in   results/{experiment}/data/manifest.json, predicted queries
out  results/{experiment}/expand/{first_stage}/
"""


rule expand:
    input:
        manifest=rules.data.output.manifest,
        predictions=predictions_of,
    output:
        collection=directory("results/{experiment}/expand/{first_stage}"),
    log:
        "results/{experiment}/logs/expand/{first_stage}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=4_000,
        runtime="4h",
    params:
        samples=lambda wildcards: (item("first_stage", "predicted_queries")(wildcards) or {"samples": 0})["samples"],
        code=code("expand"),
    script:
        "../scripts/expand.py"
