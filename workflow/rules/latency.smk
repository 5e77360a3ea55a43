"""latency: milliseconds per query, measured alone on the machine: of all rows together, query by query, of a model's, or of one.

in   the indexes, and for rows that re-rank their checkpoints, cut-offs and stores
out  results/{experiment}/latency/{timed}/<row>.json, .tsv, where {timed} is `together`, a model, `first-stages` or a row
"""


rule latency:
    input:
        lambda wildcards: list(dict.fromkeys(lookup.leaves(timing(wildcards)))),
        queries=files(inputs.timed_queries),
    output:
        folder=directory("results/{experiment}/latency/{timed}"),
    log:
        "results/{experiment}/logs/latency/{timed}.log",
    conda:
        "../../environment.yml"
    threads: 1024  # scaled to all cores: nothing runs beside a measurement
    resources:
        gpu=of_settings(measurements.gpus_of_timing, "timed"),
        mem_mb=memory(16_000),
        runtime="12h",
        token_budget=setting("encode", "token_budget"),
        vocabulary_block=setting("encode", "vocabulary_block"),
        slurm_extra="--exclusive",  # on a cluster: a node for itself
    params:
        files=timing,
        rows=of_settings(measurements.timed_facts, "timed"),
        systems=of_settings(measurements.timed_settings, "timed"),
        latency=setting("latency"),
        threads=setting("compute", "threads"),
        code=code_of("latency", of_settings(measurements.timed_models, "timed")),
    script:
        "../scripts/latency.py"
