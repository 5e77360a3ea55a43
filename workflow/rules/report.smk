"""report: everything on one page that needs nothing else.

in   table, claims, significance, latency, costs, texts, figures, metadata; workflow/report/page.html, .css, .js
out  results/{experiment}/report.html
"""


# Seconds: a place in a queue would take longer.
localrules:
    report,


rule report:
    input:
        all_of(inputs.report),
        deviations=from_here(Path(ROOT, "docs", "deviations.md")),
        figures=lambda wildcards: deliverables.figure_files(wildcards.experiment, experiment_of(wildcards)),
        page=[from_here(Path(ROOT, "workflow", "report", f"page.{kind}")) for kind in ("html", "css", "js")],
        captions=sorted(map(from_here, Path(ROOT, "workflow", "report").glob("*.rst"))),
    output:
        page="results/{experiment}/report.html",
    log:
        "results/{experiment}/logs/report/report.log",
    conda:
        "../../environment.yml"
    params:
        files=files(inputs.report),
        commands=lambda wildcards: deliverables.commands_of(wildcards.experiment, experiment_of(wildcards)),
        settings=experiment_of,
        paper=lambda wildcards: experiment_named("paper"),
        code=code("report"),
    script:
        "../scripts/report.py"
