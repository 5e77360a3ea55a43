"""reweigh: passages with each word as often as a weighter says, one folder per shard, as DeepCT publishes them.

in   results/{experiment}/data/manifest.json, results/{experiment}/regress/{weighter}/checkpoint/
out  results/{experiment}/reweigh/{weighter}/{i}-of-{n}/
"""


rule reweigh:
    input:
        manifest=rules.data.output.manifest,
        checkpoint=rules.regress.output.checkpoint,
    output:
        texts=directory("results/{experiment}/reweigh/{weighter}/{scatteritem}"),
    log:
        "results/{experiment}/logs/reweigh/{weighter}/{scatteritem}.log",
    benchmark:
        "results/{experiment}/benchmarks/reweigh/{weighter}/{scatteritem}.tsv"
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=of_settings(lookup.gpus),
        mem_mb=lambda wildcards: rates.memory_within(16_000, [item_of(wildcards, "weighter")]),
        runtime="4h",
        token_budget=item("weighter", "weigh", "token_budget"),
    params:
        positions=item("weighter", "max_pieces"),
        form=of_settings(weighting.form_of, "weighter"),
        compute=of_settings(lookup.compute_of),
        code=code("reweigh"),
    script:
        "../scripts/reweigh.py"
