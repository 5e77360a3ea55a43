"""The command line beside the workflow: `epic COMMAND`, or `python -m epic COMMAND`."""

import argparse
import logging
import sys

from epic.core.files import InputError

ENCODER, PINNED = "google-bert/bert-base-uncased", "86b5e0934494bd15c9632b12f734a8a67f723594"  # the authors' starting point


def main(arguments: list[str] | None = None) -> int:
    """Run a command; user errors print one line, no traceback."""
    parser = argparse.ArgumentParser(prog="epic", description="EPIC, reproduced: tools beside the Snakemake workflow.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _import_checkpoint(commands)
    _import_vectors(commands)
    _verify(commands)
    _mend(commands)
    _accept(commands)
    _spread(commands)
    _show(commands)
    _check_card(commands)
    _terrier(commands)
    options = parser.parse_args(arguments)
    logging.basicConfig(level="INFO", format="%(message)s")
    try:
        options.run(options)
    except (InputError, OSError) as error:  # OSError: network errors, too
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
    from epic.model.authors_weights import PUBLISHED  # torch takes seconds to import; --help does not need it
    from epic.training.import_checkpoint import import_checkpoint

    md5s = None if options.any_md5 else [options.md5] if options.md5 else list(PUBLISHED)
    revision = options.revision or (PINNED if options.encoder == ENCODER else None)
    import_checkpoint(options.file, options.out, options.encoder, revision, md5s)


def _import_vectors(commands) -> None:
    parser = commands.add_parser("import-vectors", help="turn the authors' msmarco.1000.v into a vector store")
    parser.add_argument("file", help="msmarco.1000.v, with or without the last seven passages")
    parser.add_argument("out", help="the folder to write")
    parser.add_argument("--checkpoint", help="the model that made them, from import-checkpoint; the store is tied to it")
    parser.add_argument("--keep", type=int, help="terms of a passage, if the name does not say")
    parser.add_argument("--documents", type=int, help="vectors in the file, if it is of another collection than MS MARCO")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--md5", help="the file's md5, instead of the published one")
    group.add_argument("--any-md5", action="store_true", help="take the file as it is")
    parser.set_defaults(run=_run_import_vectors)


def _run_import_vectors(options) -> None:
    from epic.vectors.authors_vectors import MD5, import_vectors

    md5 = options.md5 or (None if options.any_md5 or options.documents else MD5)  # the published md5 is of MS MARCO
    import_vectors(options.file, options.out, options.keep, options.checkpoint, md5, options.documents)


def _verify(commands) -> None:
    parser = commands.add_parser("verify", help="compare all bytes of results with what was written")
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="results/EXPERIMENT, or a file or folder in it, or a vector store"
    )
    parser.set_defaults(run=_run_verify)


def _run_verify(options) -> None:
    from epic.planning.repair import verify

    for path in options.paths:
        print(verify(path))


def _mend(commands) -> None:
    parser = commands.add_parser("mend", help="set results that were damaged aside, so that the next run makes them again")
    parser.add_argument("results", nargs="?", default="results", help="the folder of results")
    parser.set_defaults(run=_run_mend)


def _run_mend(options) -> None:
    from epic.core.run_lock import check
    from epic.planning.repair import mend

    check(options.results)  # nothing is removed under a run that is at work
    mend(options.results)


def _accept(commands) -> None:
    parser = commands.add_parser("accept", help="keep a result that you changed on purpose: its seal is renewed")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file or folder of results/")
    parser.set_defaults(run=_run_accept)


def _run_accept(options) -> None:
    from epic.core.seals import accept

    for path in options.files:
        print(f"{accept(path)}: kept as it is")


def _spread(commands) -> None:
    parser = commands.add_parser("spread", help="how far apart runs of the same queries are, as of one model with several seeds")
    parser.add_argument("values", nargs="+", metavar="FILE", help="results/EXPERIMENT/evaluate/ROW/QUERY-SET.tsv")
    parser.set_defaults(run=_run_spread)


def _run_spread(options) -> None:
    from epic.evaluation.seeds import spread

    print(spread(options.values))


def _show(commands) -> None:
    parser = commands.add_parser("show", help="the table of an experiment in a hundred columns, and what was found")
    parser.add_argument("results", metavar="FOLDER", help="results/EXPERIMENT")
    parser.set_defaults(run=_run_show)


def _run_show(options) -> None:
    from epic.report.summary import summary

    print(summary(options.results))


def _check_card(commands) -> None:
    parser = commands.add_parser(
        "check-card", help="compare a graphics card's vectors with the CPU's, and measure its rates for the plan"
    )
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu tries out the check itself")
    parser.add_argument("--passages", metavar="FILE", help="lines of id TAB text, instead of the first passages of MS MARCO")
    parser.add_argument("--count", type=int, default=2000, help="passages that are compared")
    parser.add_argument("--triples", type=int, default=512, help="triples of training that are timed")
    parser.add_argument(
        "--encoder", help="Hugging Face name, path:FOLDER or pypi:..., instead of the one that the paper's experiment pins"
    )
    parser.add_argument("--formulation", choices=["paper", "released"], default="released")
    parser.add_argument("--look", action="store_true", help="only say which card there is, or that there is none")
    parser.set_defaults(run=_run_check_card)


def _run_check_card(options) -> None:
    from epic.planning.card_check import check_card, usable

    if options.look:
        print(usable(options.device))
    else:
        given = (options.device, options.passages, options.count, options.encoder, options.formulation, options.triples)
        print(check_card(*given))


def _terrier(commands) -> None:
    parser = commands.add_parser("terrier", help="write a run by Terrier's DPH, where PyTerrier is installed, for a first stage")
    parser.add_argument("dataset", help="an id of ir_datasets, or path:FOLDER#SPLIT")
    parser.add_argument("--field", help="the field of the documents that is indexed, instead of their usual text")
    parser.add_argument("--model", default="DPH", help="Terrier's name of the model")
    parser.add_argument("--hits", type=int, default=1000, help="hits of a query")
    parser.add_argument("--out", required=True, metavar="FILE", help="the run to write, in TREC's six columns")
    parser.set_defaults(run=_run_terrier)


def _run_terrier(options) -> None:
    from epic.first_stage.terrier import terrier_run

    terrier_run(options.dataset, options.field, options.model, options.hits, options.out)


if __name__ == "__main__":
    sys.exit(main())
