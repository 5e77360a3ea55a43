"""latency: milliseconds per query of a row, measured alone on the machine.

in   the index, and for a row that re-ranks its checkpoint, cut-off and store
out  results/{experiment}/latency/{row}.json, .tsv
"""


rule latency:
    input:
        unpack(timed_inputs),
    output:
        summary="results/{experiment}/latency/{row}.json",
        queries="results/{experiment}/latency/{row}.tsv",
    log:
        "results/{experiment}/logs/latency/{row}.log",
    conda:
        "../../environment.yml"
    threads: 1024  # scaled to all cores: nothing runs beside a measurement
    resources:
        gpu=lambda wildcards: gpu(wildcards) if timed_row(wildcards)["kind"] == "model" else 0,
        mem_mb=memory(16_000),
        runtime="4h",
        slurm_extra="--exclusive",  # on a cluster: a node for itself
    params:
        row=lambda wildcards: {key: row_here(wildcards).get(key) for key in ("kind", "keep")},
        system=timed_settings,
        latency=setting("latency"),
        code=code("latency"),
    script:
        "../scripts/latency.py"
