"""What nobody should find in published results: names of the user and of the machine, and places on it."""

import getpass
import os
import platform
import re
from pathlib import Path

SHORT = 6  # bytes; a shorter word stands in a file of numbers or of pictures by chance
COMMON = {"runner", "ubuntu", "debian", "docker", "localhost", "localhost.localdomain"}  # names that tell nothing


def telling() -> list[str]:
    """Names and places of this process's user and machine, but for names that are common words or too short to look for."""
    names = {platform.node(), getpass.getuser(), os.environ.get("LOGNAME") or ""} - COMMON
    places = {os.path.expanduser("~"), os.environ.get("JAVA_HOME") or "/"} - {"/"}
    return sorted({name for name in names if len(name) >= SHORT} | places)


def leaks(folder, *words) -> dict[str, list[str]]:
    """The files below a folder, but for logs, whose name or bytes have one of some words; a short one only by itself, in a text."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] == "logs" or not path.is_file():
            continue
        data = os.fsencode(str(name)) + b"\n" + path.read_bytes()
        if hits := [word for word in words if _has(data, word.encode())]:
            found[str(name)] = hits
    return found


def _has(data: bytes, word: bytes) -> bool:
    if len(word) >= SHORT:
        return word in data
    return b"\0" not in data and re.search(rb"(?<![\w.-])" + re.escape(word) + rb"(?![\w.-])", data) is not None
