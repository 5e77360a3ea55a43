"""encode: passage vectors, one folder per shard, and the counts of all their values.

in   results/{experiment}/data/manifest.json, results/{experiment}/train/{model}/checkpoint/; waits for turn/{model}.json
out  results/{experiment}/encode/{model}/{i}-of-{n}/, and beside it .pace.json, its speed
"""


rule encode:
    input:
        manifest=rules.data.output.manifest,
        turn=ancient(str(rules.turn.output.turn)),
        checkpoint=files(inputs.precomputing, "model"),
    output:
        vectors=directory("results/{experiment}/encode/{model}/{scatteritem}"),
        pace="results/{experiment}/encode/{model}/{scatteritem}.pace.json",
    log:
        "results/{experiment}/logs/encode/{model}/{scatteritem}.log",
    benchmark:
        "results/{experiment}/benchmarks/encode/{model}/{scatteritem}.tsv"
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=of_settings(lookup.gpus),
        mem_mb=memory(16_000),
        runtime="4h",
    params:
        encode=of_settings(lookup.encode_of),
        compute=of_settings(lookup.compute_of),
        code=code("encode"),
    script:
        "../scripts/encode.py"
