"""The model card beside a checkpoint: what was trained, on what, how well, and how to use it."""

from functools import partial

from epic.graph import export
from epic.history import Iteration, best_of

FRONT = ["---", "library_name: epic", "pipeline_tag: text-ranking", "tags: [epic, passage-re-ranking, sparse]", "---", ""]
USE = """## Use

```python
from epic import Epic

model = Epic.from_pretrained("this folder")
model.score("a query", ["a passage", "another"])
```
"""


def save_checkpoint(model, out, *facts) -> None:
    """Write a checkpoint with its card, for which `facts` are what `model_card` asks for, and the graph of its query side."""
    model.save_pretrained(out, partial(model_card, *facts))
    export(out)


def model_card(experiment: str | None, entry: dict, data: dict, train: dict, history: list[Iteration], weights: str) -> str:
    """README.md of a checkpoint whose weights have the sha256 `weights`; the same bytes for the same run."""
    encoder, settings = entry["encoder"], {"formulation": entry["formulation"]}
    source = f"`{encoder['source']}`" + (f", revision `{encoder['revision']}`" if encoder["revision"] else "")
    settings |= {"encoder": source, "encoder's sha256": f"`{encoder['sha256']}`"}
    if history:
        settings |= {**data, "loss": entry["loss"], "seed": entry["seed"], **train}
    made = f"Experiment `{experiment}`, model `{entry['id']}`, of the package *EPIC, reproduced*." if experiment else ""
    return "\n".join(
        [
            *FRONT,
            f"# EPIC, formulation `{entry['formulation']}`",
            "",
            "Passage re-ranking by Expansion via Prediction of Importance with Contextualization (SIGIR 2020).",
            *([made] if made else []),
            "",
            *_result(entry, history),
            f"sha256 of the weights: `{weights}`.",
            "",
            "| setting | value |",
            "|---|---|",
            *(f"| {key} | {_shown(value)} |" for key, value in settings.items()),
            "",
            USE,
        ]
    )


def _result(entry: dict, history: list[Iteration]) -> list[str]:
    if entry["start"]:
        checked = f", md5 `{entry['start']['md5']}`" if entry["start"]["md5"] else ""
        lines = [f"Weights trained by the paper's authors, from `{entry['start']['source']}`{checked}."]
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


def _shown(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return "none" if value is None else str(value)
