"""candidates: the pairs of query and passage that a model's unpruned rows may ask for, so that encoding scores them on the way.

in   first-stage runs and query vectors of all query sets that are re-ranked
out  results/{experiment}/candidates/{model}/
     results/{experiment}/passages/positions.i64, where only candidates are encoded
"""


rule passages:
    input:
        manifest=rules.data.output.manifest,
        runs=lambda wildcards: files(vector_inputs.candidate_runs)(wildcards)["runs"],
    output:
        positions="results/{experiment}/passages/positions.i64",
    log:
        "results/{experiment}/logs/passages/positions.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=4_000,
        runtime="4h",
    params:
        depths=lambda wildcards: vector_inputs.candidate_runs(experiment_of(wildcards))["depths"],
        code=code("passages"),
    script:
        "../scripts/passages.py"


rule candidates:
    input:
        all_of(vector_inputs.candidate_files, by=["model"]),
        manifest=rules.data.output.manifest,
        passages=files(vector_inputs.encoded_passages),
    output:
        folder=directory("results/{experiment}/candidates/{model}"),
    log:
        "results/{experiment}/logs/candidates/{model}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=4_000,
        runtime="4h",
    params:
        query_sets=files(vector_inputs.candidates, "model"),
        code=code("candidates"),
    script:
        "../scripts/candidates.py"
