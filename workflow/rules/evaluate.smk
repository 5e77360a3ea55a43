"""evaluate: values of every judged query.

in   the run of a row and its queries without hits, results/{experiment}/data/{query_set}.queries.tsv, .qrels.txt, .counts.json
out  results/{experiment}/evaluate/{row}/{query_set}.tsv
"""


rule evaluate:
    input:
        unpack(files(inputs.scored_run, "row", "query_set")),
        queries=rules.queries.output.queries,
        qrels=rules.queries.output.qrels,
        counts=rules.queries.output.counts,
    output:
        values="results/{experiment}/evaluate/{row}/{query_set}.tsv",
    log:
        "results/{experiment}/logs/evaluate/{row}/{query_set}.log",
    conda:
        "../../environment.yml"
    params:
        measures=of_settings(lookup.measures_on, "query_set"),
        code=code("evaluate"),
    script:
        "../scripts/evaluate.py"
