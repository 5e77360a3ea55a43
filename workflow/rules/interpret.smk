"""interpret: the texts that the experiment lists, word by word, with their weights.

in   results/{experiment}/train/{model}/checkpoint/, the collection, and its expanded form if there is one
out  results/{experiment}/interpret/{model}.json
"""


rule interpret:
    input:
        manifest=rules.data.output.manifest,
        checkpoint=rules.train.output.checkpoint,
        qrels=lambda wildcards: list(shown_qrels(wildcards).values()),
        expanded=expanded_collection,
    output:
        texts="results/{experiment}/interpret/{model}.json",
    log:
        "results/{experiment}/logs/interpret/{model}.log",
    conda:
        "../../environment.yml"
    threads: setting("compute", "threads")
    resources:
        gpu=gpu,
        mem_mb=memory(8_000),
        runtime="1h",
    params:
        texts=setting("texts"),
        qrels=shown_qrels,
        vocabulary_block=setting("encode", "vocabulary_block"),
        compute=compute,
        code=code("interpret"),
    script:
        "../scripts/interpret.py"
