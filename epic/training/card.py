"""The model card beside a checkpoint: the model, its training data, its quality, and its use.

It is for people and in no digest: a new wording is no reason to train again. The next training writes a new card. It goes
wherever the checkpoint goes, so it names no folder outside of the working directory. What only cards need is imported where
it is used: at the head of this module it would count as code that training depends on.
"""

from epic.training.history import Iteration, best_of

FRONT = ["---", "library_name: epic", "pipeline_tag: text-ranking", "tags: [{tags}]", "---", ""]


def model_card(
    said: dict,
    experiment: str | None,
    entry: dict,
    data: dict,
    train: dict,
    chosen_by: str | None,
    histories: list[list[Iteration]],
    weights: str,
) -> str:
    """Return README.md of a checkpoint whose weights have the sha256 `weights`; the same bytes for the same run.

    said: title, text and use, from the model's family, and remarks on its training, if any; entry: the model in the experiment;
    chosen_by: the measure of the validation queries; histories: of each member of the model, which most have one of.
    """
    from epic.core.markdown import cell, code, plain
    from epic.core.places import placeless

    entry, data = placeless(entry), placeless(data)
    settings = _as_markdown({"family": entry["family"], **entry["settings"]})
    if encoder := entry["encoder"]:
        source = code(encoder["source"]) + (f", revision {code(encoder['revision'])}" if encoder["revision"] else "")
        settings |= {"encoder": source, "encoder's sha256": f"`{encoder['sha256']}`" if encoder["sha256"] else "not pinned"}
        if tokenizer := encoder.get("tokenizer"):
            settings |= {"tokenizer": code(tokenizer["source"])}
    if any(histories):
        settings |= _as_markdown({**data, "loss": entry["loss"], "seed": entry["seed"], **train})
    made = f"Experiment `{experiment}`, model `{entry['id']}`, of the package *EPIC, reproduced*." if experiment else ""
    use = ["## Use", "", "```python", *said["use"], "```", ""] if said["use"] else []
    return "\n".join(
        [
            *(line.format(tags=f"{entry['family']}, passage-re-ranking") for line in FRONT),
            f"# {said['title']}",
            "",
            said["text"],
            *([made] if made else []),
            "",
            *_result(entry, histories, chosen_by),
            *(plain(remark) for remark in said.get("remarks", [])),
            f"sha256 of the weights: `{weights}`.",
            "",
            "| setting | value |",
            "|---|---|",
            *(f"| {cell(key)} | {cell(value)} |" for key, value in settings.items()),
            "",
            *use,
        ]
    )


def with_sha256(entry: dict, folder) -> dict:
    """Return a model's entry with the sha256 of its encoder's weights, if none is pinned and the folder says what was found."""
    from pathlib import Path

    from epic.core.files import read_json
    from epic.model.encoder import PUBLISHED

    path = Path(folder, PUBLISHED) if entry["encoder"] and entry["encoder"]["sha256"] is None and folder else None
    if path is None or not path.exists():
        return entry
    return entry | {"encoder": entry["encoder"] | {"sha256": read_json(path)["sha256"]}}


def _result(entry: dict, histories: list[list[Iteration]], chosen_by: str | None) -> list[str]:
    from epic.core.markdown import code

    if entry["start"]:
        checked = f", md5 `{entry['start']['md5']}`" if entry["start"]["md5"] else ""
        lines = [f"Weights trained by the paper's authors, from {code(entry['start']['source'])}{checked}."]
    else:
        lines = ["Started from the pre-trained encoder." if entry["encoder"] else "Started anew."]
    if not any(histories):
        return [*lines, "Not trained further."]
    if len(histories) == 1:
        return [*lines, *_best(histories[0], chosen_by)]
    lines += [f"The sum of {len(histories)} members, each trained on the triples after those of the one before:", ""]
    for number, history in enumerate(histories, start=1):
        first, second = _best(history, chosen_by)
        lines.append(f"{number}. {first} {second}")
    return [*lines, ""]


def _best(history: list[Iteration], measure: str) -> list[str]:
    from epic.experiment.measure_labels import spoken

    best = best_of(history)
    return [
        f"Validation {spoken(measure)} **{best.validation:.4f}** at iteration {best.iteration} of {len(history)} "
        f"({best.triples} triples);",
        f"training loss {best.loss:.4f}, pairwise accuracy {best.accuracy:.3f} there.",
    ]


def _as_markdown(settings: dict) -> dict[str, str]:
    from epic.core.markdown import plain

    return {plain(key): plain(_shown(value)) for key, value in settings.items()}


def _shown(value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return "none" if value is None else str(value)
