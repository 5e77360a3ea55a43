"""Places of this machine, kept out of what people publish: the path to a user's own file often holds a name."""

import os
from pathlib import Path, PurePath

from epic.core.files import ROOT

PATH = "path:"  # begins a source that is a file or folder of the user's own
ELSEWHERE = "..."  # stands for the folders above a file that lies outside the working directory


def placeless(value):
    """Return settings with every `path:` shown from the working directory, or by its last part if it lies outside."""
    if isinstance(value, dict):
        return {key: placeless(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [placeless(inner) for inner in value]
    return _shown(value) if isinstance(value, str) and value.startswith(PATH) else value


def placeless_config(config: dict) -> dict:
    """Return an encoder's config.json without the folder that transformers writes into it."""
    name = config.get("_name_or_path")
    return config | {"_name_or_path": PurePath(name).name} if isinstance(name, str) and PurePath(name).is_absolute() else config


def from_home(source: str) -> str:
    """Return a `path:` as one from the working directory or from the home folder, where it lies below; it can still be opened."""
    path, split, home = *_parts(source), _home()
    if not source.startswith(PATH) or not path.is_absolute() or ".." in path.parts:
        return source
    if path.is_relative_to(Path.cwd()):
        return f"{PATH}{path.relative_to(Path.cwd())}{split}"
    return f"{PATH}~/{path.relative_to(home)}{split}" if home.name and path.is_relative_to(home) else source


def from_here(path) -> Path:
    """Return a path as one from the working directory, if both move together: where it lies below, or both lie in the repository.

    Snakemake compares the names of a job's inputs with those of its last run. An absolute one is another after a move.
    """
    path, here = Path(os.path.abspath(path)), Path.cwd()
    together = path.is_relative_to(here) or (path.is_relative_to(ROOT) and here.is_relative_to(ROOT))
    return Path(os.path.relpath(path, here)) if together else path


def _shown(source: str) -> str:
    path, split = _parts(source)
    inside = [folder for folder in (Path.cwd(), ROOT) if path.is_relative_to(folder)]
    if ".." in path.parts or path.parts[:1] == ("~",) or (path.is_absolute() and not inside):
        path = PurePath(os.path.abspath(os.path.expanduser(path)))
        return f"{PATH}~{split}" if path == _home() else f"{PATH}{ELSEWHERE}/{path.name}{split}"
    return f"{PATH}{path.relative_to(inside[0])}{split}" if inside else source


def _home() -> PurePath:
    return PurePath(os.path.expanduser("~"))


def _parts(source: str) -> tuple[PurePath, str]:
    """Return the path of a `path:`, and its split with the mark before it."""
    name, mark, split = source.removeprefix(PATH).partition("#")
    return PurePath(name), mark + split
