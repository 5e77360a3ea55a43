"""encode: passage vectors, one folder per shard with a layer per number of kept terms, and scores of the model's candidates.

in   results/{experiment}/tokenise/{encoder}/{i}-of-{n}/, results/{experiment}/train/{model}/checkpoint/
     results/{experiment}/candidates/{model}/, if all rows of the model are asked for; waits for turn/{model}.json
out  results/{experiment}/encode/{model}/{i}-of-{n}/, and beside it .pace.json, its speed
"""


rule encode:
    input:
        pieces=pieces,
        turn=ancient(str(rules.turn.output.turn)),
        checkpoint=files(vector_inputs.precomputing, "model"),
        candidates=candidates,
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
        token_budget=setting("encode", "token_budget"),
        vocabulary_block=setting("encode", "vocabulary_block"),
    params:
        encode=lambda wildcards: lookup.watched(experiment_of(wildcards), "encode"),
        compute=of_settings(lookup.compute_of),
        code=code("encode"),
    script:
        "../scripts/encode.py"
