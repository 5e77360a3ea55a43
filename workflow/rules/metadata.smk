"""metadata: the facts of a run: versions, digests, seeds, commands.

in   the experiment's file, the collection's manifest, queries, judgments, checkpoints, rows
out  results/{experiment}/metadata.json
"""


rule metadata:
    input:
        experiment=experiment_file,
        manifest=rules.data.output.manifest,
        queries=all_of(inputs.query_files),
        checkpoints=all_of(inputs.checkpoints),
        rows=all_of(inputs.rows),
    output:
        metadata="results/{experiment}/metadata.json",
    log:
        "results/{experiment}/logs/metadata/metadata.log",
    conda:
        "../../environment.yml"
    params:
        settings=experiment_of,
        queries=files(inputs.query_files),
        checkpoints=files(inputs.checkpoints),
        commands=lambda wildcards: deliverables.commands_of(wildcards.experiment, experiment_of(wildcards)),
        stages=lambda wildcards: digests.all_digests(SCRIPTS, experiment_of(wildcards)),
        code=code("metadata"),
    script:
        "../scripts/metadata.py"
