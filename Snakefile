"""Reproduce EPIC (SIGIR 2020). Ask for a file; its path names the experiment.

results/{experiment}/rows/{row}.md          one row of the table
results/{experiment}/models/{model}.md      one model: its rows and all that is known of it
results/{experiment}/table.md               the table
results/{experiment}/report.html            everything on one page
results/{experiment}/{stage}/...            what a stage made
"""

import os
import sys

from snakemake.dag import DAG
from snakemake.script import PythonScript
from snakemake.utils import min_version

min_version("9.0")
# The repository: where this file lies, also if workflow/Snakefile was named.
ROOT = os.path.abspath(workflow.current_basedir.get_path_or_uri(secret_free=True))
sys.path.insert(0, ROOT)  # `import epic` while rules are parsed ...
os.environ.update(PYTHONPATH=ROOT, PYTHONUTF8="1", LC_ALL="C.UTF-8")  # ... and inside jobs; Java reads the last


from epic.core import process, run_lock  # noqa: E402
from epic.planning.jobs import described, place_of, preflight, quoting  # noqa: E402
from epic.planning.order import not_through_ancient, vectors_lacking  # noqa: E402

os.environ[process.RUN] = process.name_run()  # jobs end with this very process
run_lock.release_at_the_end("results")  # workflow/run.sh may have taken it for this process

PythonScript._execute_cmd = quoting(PythonScript._execute_cmd)
DAG.bfs = not_through_ancient(DAG.bfs)


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/experiment.smk"
include: "workflow/rules/boolq.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/fetch.smk"
include: "workflow/rules/generator.smk"
include: "workflow/rules/generate.smk"
include: "workflow/rules/expand.smk"
include: "workflow/rules/index.smk"
include: "workflow/rules/retrieve.smk"
include: "workflow/rules/triples.smk"
include: "workflow/rules/encoder.smk"
include: "workflow/rules/vocabulary.smk"
include: "workflow/rules/recall.smk"
include: "workflow/rules/regress.smk"
include: "workflow/rules/reweigh.smk"
include: "workflow/rules/tokenise.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/weigh.smk"
include: "workflow/rules/candidates.smk"
include: "workflow/rules/discard.smk"
include: "workflow/rules/encode.smk"
include: "workflow/rules/prune.smk"
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
include: "workflow/rules/models.smk"
include: "workflow/rules/table.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/metadata.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        deliverables_of("paper"),


rule smoke:
    input:
        deliverables_of("smoke"),


rule mini:
    input:
        deliverables_of("mini"),


rule quick:
    input:
        deliverables_of("quick"),


# On this machine, jobs side by side claim no more memory than there is, unless the command says how much.
# Snakemake calls it `mem_mb`, whatever the unit in `--resources` was.
if workflow.nodes is None and "mem_mb" not in workflow.global_resources:
    workflow.global_resources["mem_mb"] = total_memory() // 10**6


# Refuse, before any job, what this machine cannot run; where EPIC_PLAN is set, say what it would take and stop.
# Called once: the Snakemake that runs a job on a node of a cluster has no hooks.
onstart:
    jobs = described(workflow.dag.needrun_jobs(), [rule.name for rule in workflow.rules])
    place = place_of(workflow.cores, workflow.nodes, workflow.local_exec, workflow.global_resources)
    if lacking := vectors_lacking(workflow.dag.needrun_jobs()):
        raise refusal(lacking)
    plan = bool(os.environ.get("EPIC_PLAN"))
    refused = preflight(EXPERIMENTS, jobs, place, only_plan=plan)
    if refused:
        raise refusal(refused)
    if plan:
        sys.exit()
    try:
        run_lock.take("results")
    except ValueError as error:
        raise refusal(str(error)) from None


onsuccess:
    repair.remove_states("results")
    run_lock.release("results")


onerror:
    run_lock.release("results")
