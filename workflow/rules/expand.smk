"""expand: the texts that a first stage indexes, as JSON lines: passages, with predicted queries appended, or reweighted.

in   results/{experiment}/data/manifest.json, predicted queries or weighted texts, published or results/{experiment}/reweigh/{weighter}/
out  results/{experiment}/expand/{first_stage}/, removed once it is indexed: only `index` reads it, and it is made again in minutes
"""


rule expand:
    input:
        unpack(files(first_stage_inputs.expansion, "first_stage")),
        manifest=rules.data.output.manifest,
    output:
        collection=temp(directory("results/{experiment}/expand/{first_stage}")),
    log:
        "results/{experiment}/logs/expand/{first_stage}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=4_000,
        runtime="4h",
    params:
        samples=of_settings(lookup.samples_of, "first_stage"),
        code=code("expand"),
    script:
        "../scripts/expand.py"
