"""interpret: the texts that the experiment lists, word by word, with their weights.

in   results/{experiment}/train/{model}/checkpoint/, the collection, and predicted queries if a first stage has them
out  results/{experiment}/interpret/{model}.json
"""


rule interpret:
    input:
        manifest=rules.data.output.manifest,
        checkpoint=files(vector_inputs.precomputing, "model"),
        qrels=all_of(inputs.shown_qrels),
        predicted=files(inputs.shown_predictions),
    output:
        texts="results/{experiment}/interpret/{model}.json",
    log:
        "results/{experiment}/logs/interpret/{model}.log",
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=of_settings(lookup.gpus),
        mem_mb=memory(8_000),
        runtime="1h",
        vocabulary_block=setting("encode", "vocabulary_block"),
    params:
        texts=setting("texts"),
        qrels=files(inputs.shown_qrels),
        samples=of_settings(lookup.shown_samples),
        compute=of_settings(lookup.compute_of),
        code=code("interpret"),
    script:
        "../scripts/interpret.py"
