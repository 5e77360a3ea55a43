"""Kinds of inputs that a job may want, by name: outputs of other rules, files in their folders, published files, datasets.

`workflow/rules/inputs.smk` turns them into paths.
"""

from typing import NamedTuple


class Output(NamedTuple):
    """A file that a rule makes, as rule.output, and the wildcards of its path."""

    name: str
    wildcards: dict


class Within(NamedTuple):
    """A file inside a folder that a rule makes: a job's input is the folder, and its params name the file."""

    folder: Output
    name: str


class Shards(NamedTuple):
    """A file of every shard of a model, or of an encoder's word-pieces, in document order."""

    name: str
    of: dict  # the wildcards of its path, without experiment and shard


class Source(NamedTuple):
    """A published file."""

    name: str  # download:FILE or path:FILE
    meant: str = ""  # what it is, for the error where a path:FILE is not there


class Dataset(NamedTuple):
    """Files of a dataset, by kind; only the files of a folder are known."""

    name: str
    kinds: tuple[str, ...]


def output(name: str, **wildcards) -> Output:
    """Name an output of a rule, like retrieve.run."""
    return Output(name, wildcards)


def folders(wanted):
    """Return the same inputs, in the same nesting, with folders in place of the files inside them."""
    if isinstance(wanted, Within):
        return wanted.folder
    if isinstance(wanted, dict):
        return {key: folders(value) for key, value in wanted.items()}
    return [folders(value) for value in wanted] if isinstance(wanted, list) else wanted
