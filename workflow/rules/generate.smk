"""generate: queries that passages might answer, one folder per shard; in the published form, for `expand`. A killed shard goes on.

in   results/{experiment}/generator/{generator}/, the collection
out  results/{experiment}/generate/{generator}/{samples}-{seed}/{i}-of-{n}/; until then results/{experiment}/state/generate/...
"""


rule generate:
    input:
        generator=rules.generator.output.folder,
        manifest=rules.data.output.manifest,
    output:
        queries=directory("results/{experiment}/generate/{generator}/{samples}-{seed}/{scatteritem}"),
    log:
        "results/{experiment}/logs/generate/{generator}/{samples}-{seed}/{scatteritem}.log",
    benchmark:
        "results/{experiment}/benchmarks/generate/{generator}/{samples}-{seed}/{scatteritem}.tsv"
    wildcard_constraints:
        generator="[^/]+",
        samples=r"\d+",
        seed=r"\d+",
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=of_settings(lookup.gpus),
        mem_mb=of_settings(generating.generating_memory, "generator", "samples"),
        runtime="48h",  # what it has made is kept: a job that is cut off goes on
        batch=of_settings(generation.batch_of, "generator"),
    params:
        drawing=of_settings(generation.drawing_of, "generator", "samples", "seed"),
        compute=of_settings(generation.compute_of, "generator"),
        state=lambda wildcards: "results/{experiment}/state/generate/{generator}/{samples}-{seed}/{scatteritem}".format(
            **wildcards
        ),
        code=code("generate"),
    script:
        "../scripts/generate.py"
