"""metadata: what a run was.

in   the experiment's file, the collection's manifest, queries, judgments, checkpoints, rows
out  results/{experiment}/metadata.json
"""


rule metadata:
    input:
        experiment=experiment_file,
        manifest=rules.data.output.manifest,
        queries=lambda wildcards: list(query_files(wildcards).values()),
        checkpoints=lambda wildcards: list(checkpoints_of(wildcards).values()),
        rows=lambda wildcards: [at(rules.rows.output.row, wildcards, row=row["id"]) for row in experiment_of(wildcards)["rows"]],
    output:
        metadata="results/{experiment}/metadata.json",
    log:
        "results/{experiment}/logs/metadata/metadata.log",
    conda:
        "../../environment.yml"
    params:
        settings=experiment_of,
        queries=query_files,
        checkpoints=checkpoints_of,
        commands=commands_of,
        code=code("metadata"),
    script:
        "../scripts/metadata.py"
