"""The model card beside a checkpoint: what was trained, on what, how well, and how to use it."""

from epic.history import Iteration, best_of


def model_card(experiment: str, entry: dict, data: dict, train: dict, history: list[Iteration]) -> str:
    """README.md of a checkpoint, the same bytes for the same run."""
    encoder, settings = entry["encoder"]["source"], {**data, "loss": entry["loss"], "seed": entry["seed"], **train}
    tags = ["---", "library_name: epic", "pipeline_tag: text-ranking", "tags: [epic, passage-re-ranking, sparse]", "---"]
    lines = [
        *tags,
        "",
        f"# EPIC, formulation `{entry['formulation']}`",
        "",
        "Passage re-ranking by Expansion via Prediction of Importance with Contextualization (SIGIR 2020), trained by the",
        f"package *EPIC, reproduced*: experiment `{experiment}`, model `{entry['id']}`.",
        "",
        "## Result",
        "",
        *_result(entry, history),
        "",
        "## Training",
        "",
        "| setting | value |",
        "|---|---|",
        f"| encoder | `{encoder}`{_revision(entry['encoder'])} |",
        f"| encoder's sha256 | `{entry['encoder']['sha256']}` |",
        *(f"| {key} | {_shown(value)} |" for key, value in settings.items()),
        "",
        "## Use",
        "",
        "```python",
        "from epic import Epic",
        "",
        'model = Epic.from_pretrained("this folder")',
        'model.score("a query", ["a passage", "another"])',
        "```",
        "",
    ]
    return "\n".join(lines)


def _result(entry: dict, history: list[Iteration]) -> list[str]:
    if entry["start"]:
        lines = [f"Weights imported from the authors' `{entry['start']['source']}`, md5 `{entry['start']['md5']}`."]
    else:
        lines = ["Started from the pre-trained encoder."]
    if not history:
        return [*lines, "Not trained further."]
    best = best_of(history)
    return [
        *lines,
        f"Validation MRR@10 **{best.validation:.4f}** at iteration {best.iteration} of {len(history)} ({best.triples} triples);",
        f"training loss {best.loss:.4f}, pairwise accuracy {best.accuracy:.3f} there.",
    ]


def _revision(encoder: dict) -> str:
    return f", revision `{encoder['revision']}`" if encoder["revision"] else ""


def _shown(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return "none" if value is None else str(value)
