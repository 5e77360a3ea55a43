"""Rules about measures: the table's is computed, and none is deeper than the hits of a set."""

from collections.abc import Iterator

from epic.experiment.measure_labels import spoken
from epic.experiment.measure_names import AT_DEPTH, from_grade, recall_depth
from epic.experiment.yaml_lines import Place


def measure_problems(settings: dict) -> Iterator[tuple[Place, str]]:
    """Yield violations of the rules, each at its place in the expansion."""
    said = settings["evaluate"]
    if (shown := said["measure"]) not in said["measures"]:
        yield ("evaluate", "measures"), f"{shown}, the measure of the table, is not among {', '.join(said['measures'])}"
    for query_set in settings["query_sets"]:
        if query_set["id"] == said["headline"] and from_grade(shown, query_set["relevance"]) != shown:
            message = f"the table shows {spoken(shown)} from grade 1 on; choose a set with relevance: 1"
            yield ("evaluate", "headline"), message
        for number, name in enumerate(said["measures"]):
            deepest = recall_depth(name)
            if query_set["purpose"] == "test" and deepest and deepest > query_set["hits"]:
                message = f"{name} is deeper than the hits of {query_set['id']} ({query_set['hits']})"
                yield ("evaluate", "measures", number), f"{message}; {AT_DEPTH} is recall at the depth of each set"
