"""The settings in which an experiment differs from the paper's."""

from epic.core.places import placeless

NOT_SCIENCE = {"title", "note", "rows", "comparisons", "texts", "published_on", "downloads"}


def flat(value, path: str = "") -> dict[str, object]:
    """Flatten a nested value to key.key -> value; items of lists that have an id are named by it."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and value and all(isinstance(item, dict) and "id" in item for item in value):
        items = ((item["id"], {key: inner for key, inner in item.items() if key != "id"}) for item in value)
    else:
        return {path: value}
    found = {}
    for key, inner in items:
        found |= flat(inner, f"{path}.{key}" if path else str(key))
    return found


def differing(settings: dict, paper: dict) -> list[tuple[str, object, object]]:
    """Return (key, the paper's value, ours) wherever they differ; a dash if one of them has no such key."""
    ours, theirs = (flat(placeless({key: one[key] for key in one if key not in NOT_SCIENCE})) for one in (settings, paper))
    keys = [*theirs, *(key for key in ours if key not in theirs)]
    return [(key, theirs.get(key, "-"), ours.get(key, "-")) for key in keys if theirs.get(key, "-") != ours.get(key, "-")]
