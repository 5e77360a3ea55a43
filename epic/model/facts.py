"""What JSON files say of the model beside them: config.json, epic.json, ranker.json; a missing or damaged one is refused."""

from contextlib import contextmanager
from pathlib import Path

from epic.core.files import InputError, read_json


def read_facts(path) -> dict:
    """Read such a file, or raise an InputError that names it."""
    if not Path(path).is_file():
        raise InputError(f"{path}: there is no such file; fetch the folder anew, or make it again")
    facts = read_json(path)
    if not isinstance(facts, dict):
        raise InputError(f"{path}: expected keys and values, found {str(facts)[:40]!r}; it was damaged: fetch or make it again")
    return facts


@contextmanager
def naming(folder, file: str = ""):
    """Name a folder, or a file in it, in the refusals of a block that do not name the folder themselves."""
    try:
        yield
    except InputError as error:
        raise (error if str(folder) in str(error) else InputError(f"{Path(folder) / file}: {error}")) from error
