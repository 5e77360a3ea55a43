"""prune: one store per number of kept terms: it names layers of the encoded shards, or is written out if they have no such layer.

in   results/{experiment}/encode/{model}/{i}-of-{n}/
out  results/{experiment}/prune/{model}/{keep}/
"""


rule prune:
    input:
        manifest=rules.data.output.manifest,
        passages=files(vector_inputs.encoded_passages),
        shards=files(vector_inputs.shards, "model"),
    output:
        store=directory("results/{experiment}/prune/{model}/{keep}"),
    log:
        "results/{experiment}/logs/prune/{model}/{keep}.log",
    benchmark:
        "results/{experiment}/benchmarks/prune/{model}/{keep}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=4_000,
        runtime="8h",
    params:
        code=code("prune"),
    script:
        "../scripts/prune.py"
