"""tokenise: word-pieces of the passages, one folder per shard; once for all models that start from one encoder.

in   results/{experiment}/data/manifest.json, results/{experiment}/encoder/{encoder}/
out  results/{experiment}/tokenise/{encoder}/{i}-of-{n}/
"""


rule tokenise:
    input:
        manifest=rules.data.output.manifest,
        encoder=rules.encoder.output.folder,
        passages=files(vector_inputs.encoded_passages),
    output:
        pieces=directory("results/{experiment}/tokenise/{encoder}/{scatteritem}"),
    log:
        "results/{experiment}/logs/tokenise/{encoder}/{scatteritem}.log",
    benchmark:
        "results/{experiment}/benchmarks/tokenise/{encoder}/{scatteritem}.tsv"
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        mem_mb=4_000,
        runtime="4h",
    params:
        batches=of_settings(encoding.asks_for_batches, "encoder"),
        code=code("tokenise"),
    script:
        "../scripts/tokenise.py"
