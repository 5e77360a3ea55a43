"""fetch: published files, from the first mirror that serves the right bytes; kept, or placed by hand, in downloads/.

out  results/{experiment}/fetch/{file}
"""


localrules:
    fetch,


rule fetch:
    output:
        file="results/{experiment}/fetch/{file}",
    log:
        "results/{experiment}/logs/fetch/{file}.log",
    conda:
        "../../environment.yml"
    params:
        download=of_settings(lookup.download_named, "file"),
        code=code("fetch"),
    script:
        "../scripts/fetch.py"
