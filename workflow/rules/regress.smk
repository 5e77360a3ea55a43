"""regress: a weighter from a pre-trained encoder, on labels; an interrupted training goes on. Without training, as it comes.

in   results/{experiment}/encoder/{encoder}/, results/{experiment}/recall/{weighter}.jsonl
out  results/{experiment}/regress/{weighter}/checkpoint/, history.tsv; until then results/{experiment}/state/regress/{weighter}/
"""


rule regress:
    input:
        unpack(files(weighting.regression, "weighter")),
        manifest=rules.data.output.manifest,
    output:
        checkpoint=directory("results/{experiment}/regress/{weighter}/checkpoint"),
        history="results/{experiment}/regress/{weighter}/history.tsv",
    log:
        "results/{experiment}/logs/regress/{weighter}.log",
    benchmark:
        "results/{experiment}/benchmarks/regress/{weighter}.tsv"
    conda:
        "../../environment.yml"
    threads: of_settings(weighting.threads_of_regression, "weighter")
    resources:
        gpu=of_settings(lookup.gpus),
        mem_mb=lambda wildcards: rates.memory_within(16_000, [item_of(wildcards, "weighter")]),
        runtime="24h",
    params:
        weighter=of_settings(weighting.regression_of, "weighter"),
        device=setting("compute", "device"),
        state=lambda wildcards: at("results/{experiment}/state/regress/{weighter}", wildcards, weighter=wildcards.weighter),
        code=code("regress"),
    script:
        "../scripts/regress.py"
