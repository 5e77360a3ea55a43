"""discard: where vectors are not kept, a model's are removed once its rows are there and timed; the next model's turn is then.

in   the runs, latencies and costs of a model's rows: all that reads its vectors
out  results/{experiment}/discard/{model}.json, and no more vectors in encode/{model}/ and prune/{model}/
     results/{experiment}/turn/{model}.json, which encoding waits for
"""


# Seconds: a place in a queue would take longer.
localrules:
    discard,
    turn,


rule discard:
    input:
        unpack(files(of_model.discarding, "model")),
    output:
        discarded="results/{experiment}/discard/{model}.json",
    log:
        "results/{experiment}/logs/discard/{model}.log",
    conda:
        "../../environment.yml"
    params:
        again=lambda wildcards: deliverables.vectors_again(wildcards.experiment, experiment_of(wildcards), wildcards.model),
        code=code("discard"),
    script:
        "../scripts/discard.py"


# Its input is another one if all models are asked for. That is no reason to encode again, since encoding takes it for ancient.
rule turn:
    input:
        waits_for,
    output:
        turn="results/{experiment}/turn/{model}.json",
    log:
        "results/{experiment}/logs/turn/{model}.log",
    conda:
        "../../environment.yml"
    params:
        code=code("turn"),
    script:
        "../scripts/turn.py"
