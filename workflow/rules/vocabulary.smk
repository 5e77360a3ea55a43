"""vocabulary: the words that a model knows, counted or published, with idf and pre-trained vectors; for families of words.

in   results/{experiment}/data/manifest.json, published lists of words and vectors
out  results/{experiment}/vocabulary/{model}/, for all models that know the same words
"""


rule vocabulary:
    input:
        unpack(files(word_inputs.vocabulary, "model")),
        manifest=rules.data.output.manifest,
    output:
        folder=directory("results/{experiment}/vocabulary/{model}"),
    log:
        "results/{experiment}/logs/vocabulary/{model}.log",
    benchmark:
        "results/{experiment}/benchmarks/vocabulary/{model}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=of_settings(rates.vocabulary_memory, "model"),
        runtime="4h",
    params:
        settings=of_settings(word_inputs.words_of, "model"),
        code=code("vocabulary"),
    script:
        "../scripts/vocabulary.py"
