"""recall: labels of a weighter, how many of a passage's relevant queries contain each of its words.

in   results/{experiment}/data/manifest.json, queries and judgments of a set for train, a list of stop words
out  results/{experiment}/recall/{weighter}.jsonl
"""


rule recall:
    input:
        unpack(files(weighting.labelling, "weighter")),
        manifest=rules.data.output.manifest,
    output:
        labels="results/{experiment}/recall/{weighter}.jsonl",
    log:
        "results/{experiment}/logs/recall/{weighter}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=4_000,
        runtime="4h",
    params:
        relevance=of_settings(weighting.label_relevance, "weighter"),
        code=code("recall"),
    script:
        "../scripts/recall.py"
