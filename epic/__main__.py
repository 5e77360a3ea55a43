"""The command line beside the workflow: `epic COMMAND`, or `python -m epic COMMAND`."""

import argparse
import logging
import sys

from epic.files import InputError

ENCODER, PINNED = "google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"  # what the authors started from


def main(arguments: list[str] | None = None) -> int:
    """Run a command; what a person can mend is one line, not a traceback."""
    parser = argparse.ArgumentParser(prog="epic", description="EPIC, reproduced: tools beside the Snakemake workflow.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _import_checkpoint(commands)
    options = parser.parse_args(arguments)
    logging.basicConfig(level="INFO", format="%(message)s")
    try:
        options.run(options)
    except (InputError, OSError) as error:  # of the network, too
        print(f"epic {options.command}: {error}", file=sys.stderr)
        return 1
    return 0


def _import_checkpoint(commands) -> None:
    parser = commands.add_parser(
        "import-checkpoint", help="turn the authors' epic.p, or their tar for PyTerrier, into a checkpoint"
    )
    parser.add_argument("file", help="epic.p or epic.msmarco.tar.gz, as published by the authors")
    parser.add_argument("out", help="the folder to write")
    parser.add_argument("--encoder", default=ENCODER, help="Hugging Face name, path:FOLDER or pypi:...")
    parser.add_argument("--revision", help="commit of a Hugging Face name")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--md5", help="the file's md5, instead of a published one")
    group.add_argument("--any-md5", action="store_true", help="take the file as it is")
    parser.set_defaults(run=_run_import)


def _run_import(options) -> None:
    from epic.authors import PUBLISHED  # torch takes seconds to import; --help does not need it
    from epic.imports import import_checkpoint

    md5s = None if options.any_md5 else [options.md5] if options.md5 else list(PUBLISHED)
    revision = options.revision or (PINNED if options.encoder == ENCODER else None)
    import_checkpoint(options.file, options.out, options.encoder, revision, md5s)


if __name__ == "__main__":
    sys.exit(main())
