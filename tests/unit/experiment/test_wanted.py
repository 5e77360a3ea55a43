"""Kinds of inputs: an input inside a folder stands for the folder where a job says what it needs."""

from epic.experiment.wanted import Output, Source, Within, folders, output


def test_an_output_is_named_with_the_wildcards_of_its_path():
    assert output("retrieve.run", first_stage="bm25") == Output("retrieve.run", {"first_stage": "bm25"})


def test_files_inside_a_folder_become_the_folder_in_any_nesting_and_all_else_stays():
    folder = output("latency.folder", timed="together")
    named = {"a": [Within(folder, "x.json"), folder], "b": {"c": Within(folder, "y.tsv")}, "d": Source("path:x"), "e": []}
    assert folders(named) == {"a": [folder, folder], "b": {"c": folder}, "d": Source("path:x"), "e": []}
