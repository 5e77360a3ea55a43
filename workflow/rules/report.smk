"""report: everything on one page that needs nothing else.

in   table, claims, significance, latency, costs, texts, figures, metadata; workflow/report/page.html, .css, .js
out  results/{experiment}/report.html
"""


# Seconds: a place in a queue would take longer.
localrules:
    report,


rule report:
    input:
        lambda wildcards: leaves(report_files(wildcards)),
        figures=lambda wildcards: figures_of(wildcards.experiment),
        page=[Path(workflow.basedir, "workflow", "report", f"page.{kind}") for kind in ("html", "css", "js")],
        captions=sorted(Path(workflow.basedir, "workflow", "report").glob("*.rst")),
    output:
        page="results/{experiment}/report.html",
    log:
        "results/{experiment}/logs/report/report.log",
    conda:
        "../../environment.yml"
    params:
        files=report_files,
        commands=commands_of,
        settings=experiment_of,
        paper=EXPERIMENTS["paper"],
        code=code("report"),
    script:
        "../scripts/report.py"
