"""replay: runs that others published, as rows of the table.

in   a published file of query id, passage id and rank; results/{experiment}/data/{query_set}.queries.tsv
out  results/{experiment}/replay/{row}/{query_set}.run, .json (queries without hits)
"""


rule replay:
    input:
        published=files(inputs.published_run, "row", "query_set"),
        manifest=rules.data.output.manifest,
        queries=rules.queries.output.queries,
    output:
        run="results/{experiment}/replay/{row}/{query_set}.run",
        answers="results/{experiment}/replay/{row}/{query_set}.json",
    log:
        "results/{experiment}/logs/replay/{row}/{query_set}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=8_000,
        runtime="1h",
    params:
        hits=item("query_set", "hits"),
        code=code("replay"),
    script:
        "../scripts/replay.py"
