"""latency: milliseconds per query of a row, measured alone on the machine.

in   the index, and for a row that re-ranks its checkpoint, cut-off and store
out  results/{experiment}/latency/{row}.json, .tsv
"""


rule latency:
    input:
        unpack(files(inputs.timing, "row")),
    output:
        summary="results/{experiment}/latency/{row}.json",
        queries="results/{experiment}/latency/{row}.tsv",
    log:
        "results/{experiment}/logs/latency/{row}.log",
    conda:
        "../../environment.yml"
    threads: 1024  # scaled to all cores: nothing runs beside a measurement
    resources:
        gpu=of_row(lookup.gpus_of_timing),
        mem_mb=memory(16_000),
        runtime="4h",
        slurm_extra="--exclusive",  # on a cluster: a node for itself
    params:
        row=of_row(lookup.timed_row),
        system=of_row(lookup.timed_settings),
        latency=setting("latency"),
        code=code_of("latency", model_named),
    script:
        "../scripts/latency.py"
