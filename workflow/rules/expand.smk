"""expand: what a first stage indexes, as JSON lines: passages, with predicted queries appended, or reweighted.

in   results/{experiment}/data/manifest.json, predicted queries or weighted texts
out  results/{experiment}/expand/{first_stage}/
"""


rule expand:
    input:
        manifest=rules.data.output.manifest,
        predicted=files_of_stage("predicted_queries"),
        weighted=files_of_stage("weighted_text"),
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
        samples=lambda wildcards: (item("first_stage", "predicted_queries")(wildcards) or {"samples": None})["samples"],
        code=code("expand"),
    script:
        "../scripts/expand.py"
