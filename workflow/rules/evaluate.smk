"""evaluate: values of every judged query.

in   the run of a row, results/{experiment}/data/{query_set}.queries.tsv, .qrels.txt
out  results/{experiment}/evaluate/{row}/{query_set}.tsv
"""


rule evaluate:
    input:
        run=files(inputs.scored_run, "row", "query_set"),
        queries=rules.queries.output.queries,
        qrels=rules.queries.output.qrels,
    output:
        values="results/{experiment}/evaluate/{row}/{query_set}.tsv",
    log:
        "results/{experiment}/logs/evaluate/{row}/{query_set}.log",
    conda:
        "../../environment.yml"
    params:
        hits=item("query_set", "hits"),
        relevance=item("query_set", "relevance"),
        code=code("evaluate"),
    script:
        "../scripts/evaluate.py"
