"""Seals: what each output of a stage was when it was written, compared before a later stage uses it.

FOLDER/.seals/NAME.json      of the output FOLDER/NAME: its stage, and bytes, sha256 and lines of its file or of each file in it
FOLDER/.seals/NAME.refused   a job found that the output differs; the next `epic mend` looks at all of it
FOLDER/.seals/NAME.damaged   the output as it was found, before it was made again

A seal is written when its output is on the disk. An output without one is not compared: an earlier version made it, or somebody
removed the seal on purpose. Arrays of rows are too large to be read whole by every job. A store compares their rows as it reads
them (`epic.vectors.stored_rows`); `epic verify` compares all bytes.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from epic.core.files import InputError, read_json, remove, sync, write_json

FOLDER = ".seals"
BY_ROW = ("terms.u16", "weights.f16", "dense.f16")  # arrays whose rows are compared as they are read
TEXT = (".csv", ".html", ".json", ".jsonl", ".md", ".run", ".tex", ".tsv", ".txt", ".yaml")  # endings of files that have lines
HEADER = "header.json"  # of a store: it holds digests, by path in the store, that were taken while the arrays were written
AT_ONCE = 1 << 20  # bytes


def seal(outputs: Iterable, stage: str) -> None:
    """Record what these outputs are now, after they have reached the disk."""
    for path in map(Path, outputs):
        sync(path)
        write_json(_seal_of(path), {"stage": stage, "files": _facts(path)})
        _refused(path).unlink(missing_ok=True)


def seal_without(output: Path, removed: Iterable[str], added: str) -> None:
    """Renew the seal of a folder from which some files are about to be removed, and which got another one; if it has a seal.

    All other files are taken for what the seal says.
    """
    if is_sealed(output):
        facts = _read(output)
        stay = {name: fact for name, fact in facts["files"].items() if name not in set(removed)}
        write_json(_seal_of(output), facts | {"files": stay | {added: _digest(output / added)}})


def unseal(outputs: Iterable) -> None:
    """Remove the seals of outputs that are about to be written."""
    for path in map(Path, outputs):
        _seal_of(path).unlink(missing_ok=True)
        _refused(path).unlink(missing_ok=True)


def check(inputs: Iterable, remedy: str | None = None, whole: bool = False) -> None:
    """Refuse the first input that differs from its seal; an input may lie inside an output that is a folder.

    whole: compare arrays of rows, too.
    """
    for path in map(Path, inputs):
        output = sealed_output(path)
        if output is None:
            continue
        difference = difference_of(output, lambda file: whole or file.name not in BY_ROW, within=path)
        if difference:
            refuse(output)
            again = remedy or (
                f"make it again: snakemake {output} --force --cores all; "
                f"or, if you changed it on purpose, keep it: epic accept {output}"
            )
            raise InputError(f"{difference} by the stage {_read(output)['stage']}; {again}")


def again(output) -> str:
    """Say how to get an output again."""
    return f"make it again (snakemake {output} --force --cores all), or import it again"


def refuse(output) -> None:
    """Leave a mark that an output differs from what was written, if it has a seal."""
    output = Path(output)
    with suppress(OSError):  # a folder that cannot be written to
        if _seal_of(output).exists():
            _refused(output).touch()


def accept(path) -> Path:
    """Renew the seal of an output, or of the output that a file lies in, and return it: it stays as it is now."""
    output = sealed_output(Path(path))
    if output is None:
        raise InputError(f"{path} has no seal, so that it is used as it is; nothing is to be done")
    if not output.exists():
        raise InputError(f"{output} is not there")
    if any(Path(name).name in BY_ROW for name in _read(output)["files"]) and (difference := difference_of(output)):
        raise InputError(f"{difference}; vectors cannot be changed by hand")
    seal([output], _read(output)["stage"])
    return output


def is_sealed(output) -> bool:
    """Tell whether an output has a seal of its own."""
    return _seal_of(Path(output)).exists()


def sealed_output(path: Path) -> Path | None:
    """Return the output that a path is or lies in; None if it has no seal."""
    return next((part for part in (path, *path.parents) if part.name and _seal_of(part).exists()), None)


def sealed_below(folder) -> Iterator[Path]:
    """Yield all outputs below a folder that have a seal, sorted by where they lie."""
    for path in sorted(Path(folder).rglob(f"{FOLDER}/*.json")):
        yield path.parent.parent / path.name.removesuffix(".json")


def was_refused(output: Path) -> bool:
    """Tell whether a job found that an output differs from its seal."""
    return _refused(output).exists()


def sealed_at(output: Path) -> int:
    """Return when an output was sealed, or last found as it was, in nanoseconds."""
    return _seal_of(output).stat().st_mtime_ns


def confirm(output: Path) -> None:
    """Note that all of an output was compared just now."""
    os.utime(_seal_of(output))
    _refused(output).unlink(missing_ok=True)


def set_aside(output: Path, keep: bool) -> Path | None:
    """Move a damaged output out of the way, or remove it, with its seal; return where it lies now."""
    damaged = _seal_of(output).with_suffix(".damaged")
    remove(damaged)
    if keep:
        os.replace(output, damaged)
    else:
        remove(output)
    unseal([output])
    return damaged if keep else None


def difference_of(output: Path, reads: Callable[[Path], bool] = lambda file: True, within: Path | None = None) -> str | None:
    """Say how an output differs from its seal; None if it does not.

    Only sizes are compared of a file that `reads` denies; with `within`, only what lies in this path is compared.
    """
    for name, fact in _read(output)["files"].items():
        file = output / name
        if within is not None and within not in (output, file, *file.parents):
            continue
        if not file.is_file():
            return f"{file} is missing; {_size(fact)} were written"
        if (found := file.stat().st_size) != fact["bytes"]:
            return f"{file} has {found} bytes; {_size(fact)} were written"
        if reads(file) and _digest(file)["sha256"] != fact["sha256"]:
            return f"{file} has other content than was written"
    return None


def _size(fact: dict) -> str:
    lines = fact.get("lines")
    return f"{fact['bytes']} bytes" + (f" in {lines} {'line' if lines == 1 else 'lines'}" if lines is not None else "")


def _read(output: Path) -> dict:
    facts = read_json(_seal_of(output))
    files = facts.get("files") if isinstance(facts, dict) else None
    if not isinstance(files, dict) or not all({"bytes", "sha256"} <= fact.keys() for fact in files.values()):
        raise InputError(f"{_seal_of(output)}: not a seal; make {output} again")
    return facts


def _facts(path: Path) -> dict[str, dict]:
    """Return bytes, digest and lines of a file, or of each file in a folder, by its path in the output."""
    if not path.is_dir():
        return {"": _digest(path)}
    declared = read_json(path / HEADER) if (path / HEADER).exists() else {}
    sums = declared.get("sha256", {}) if isinstance(declared, dict) else {}
    facts = {}
    for file in sorted(path.rglob("*")):
        if file.is_file() and FOLDER not in file.parts:
            name = file.relative_to(path).as_posix()
            known = file.name in BY_ROW and name in sums
            facts[name] = {"bytes": file.stat().st_size, "sha256": sums[name]} if known else _digest(file)
    return facts


def _digest(file: Path) -> dict:
    digest, size, lines = hashlib.sha256(), 0, 0
    text = file.suffix in TEXT
    with open(file, "rb") as stream:
        while block := stream.read(AT_ONCE):
            digest.update(block)
            size += len(block)
            if text:
                lines += block.count(b"\n")
    return {"bytes": size, "sha256": digest.hexdigest()} | ({"lines": lines} if text else {})


def _seal_of(output: Path) -> Path:
    return output.parent / FOLDER / f"{output.name}.json"


def _refused(output: Path) -> Path:
    return output.parent / FOLDER / f"{output.name}.refused"
