"""Reproduce EPIC (SIGIR 2020). Ask for a file; its path names the experiment.

results/{experiment}/rows/{row}.md          one row of the table
results/{experiment}/table.md               the table
results/{experiment}/report.html            everything on one page
results/{experiment}/{stage}/...            what a stage made
"""

import os
import sys

from snakemake.utils import min_version

min_version("9.0")
sys.path.insert(0, workflow.basedir)  # `import epic` while rules are parsed ...
os.environ.update(PYTHONPATH=workflow.basedir, PYTHONUTF8="1")  # ... and inside jobs


include: "workflow/rules/common.smk"


limit_memory()


include: "workflow/rules/lookups.smk"
include: "workflow/rules/rowlookups.smk"
include: "workflow/rules/wholelookups.smk"
include: "workflow/rules/boolq.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/fetch.smk"
include: "workflow/rules/expand.smk"
include: "workflow/rules/index.smk"
include: "workflow/rules/retrieve.smk"
include: "workflow/rules/triples.smk"
include: "workflow/rules/encoder.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/encode.smk"
include: "workflow/rules/prune.smk"
include: "workflow/rules/weigh.smk"
include: "workflow/rules/tune.smk"
include: "workflow/rules/rerank.smk"
include: "workflow/rules/replay.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/significance.smk"
include: "workflow/rules/latency.smk"
include: "workflow/rules/frequencies.smk"
include: "workflow/rules/interpret.smk"
include: "workflow/rules/costs.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/rows.smk"
include: "workflow/rules/table.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/metadata.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        deliverables("paper"),


rule smoke:
    input:
        deliverables("smoke"),


rule mini:
    input:
        deliverables("mini"),


onstart:
    preflight()


onsuccess:
    remove_states("results")
