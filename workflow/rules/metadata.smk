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
        rows=lambda wildcards: leaves(rows_of(wildcards)),
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
        stages=stage_digests(),
        code=code("metadata"),
    script:
        "../scripts/metadata.py"
