"""Datasets by name, whatever their source: ids of ir_datasets, and the user's own folders as datasets of the same kind.

msmarco-passage/dev/small          an ir_datasets id
path:FOLDER                        docs, queries and qrels of a folder, as epic/corpus/folder.py says
path:FOLDER#SPLIT                  the same with the queries of a split
"""

import fcntl
import logging
from contextlib import ExitStack, contextmanager
from pathlib import Path

from epic.core.files import InputError
from epic.corpus.folder import folder_of

log = logging.getLogger(__name__)
SHOWN = 12  # datasets in an error: those beside the one that is not there


def home() -> Path:
    """Return the folder in which ir_datasets keeps its downloads and stores: $IR_DATASETS_HOME."""
    import ir_datasets

    return Path(ir_datasets.util.home_path())


def load(dataset: str):
    """Load a dataset of ir_datasets, whatever its source."""
    import ir_datasets

    folder = folder_of(dataset)
    if folder is None:
        try:
            return ir_datasets.load(dataset)
        except KeyError as error:
            beside = sorted(name for name in ir_datasets.registry if name.rpartition("/")[0] == dataset.rpartition("/")[0])
            known = f"; there are {', '.join(beside)}" if "/" in dataset and 0 < len(beside) <= SHOWN else ""
            remedy = "see https://ir-datasets.com, or say path:FOLDER for one of your own"
            raise InputError(f"ir_datasets has no dataset {dataset}{known}; {remedy}") from error
    from epic.corpus.folder_dataset import local_dataset  # its classes derive from ir_datasets', which is slow to import

    return local_dataset(folder)


@contextmanager
def alone():
    """Let only one process at a time download or build: ir_datasets corrupts its stores otherwise."""
    with ExitStack() as stack:
        try:
            _lock(stack.enter_context(open(home() / "epic.lock", "a")))
        except OSError as error:  # a read-only home can still be read; some disks of clusters know no locks
            log.warning("%s cannot be locked (%s); no two processes may build there at once", home(), error.strerror)
        yield


def _lock(stream) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.info("waiting for another process that downloads or builds in %s", home())
        fcntl.flock(stream, fcntl.LOCK_EX)
