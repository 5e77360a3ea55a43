"""Datasets by name, whatever their source: ids of ir_datasets, and folders of one's own as datasets of the same kind.

msmarco-passage/dev/small          an ir_datasets id
path:FOLDER                        docs, queries and qrels of a folder, as epic/folder.py says
path:FOLDER#SPLIT                  the same with the queries of a split
"""

import fcntl
import logging
from contextlib import ExitStack, contextmanager
from pathlib import Path

from epic.files import InputError
from epic.folder import folder_of

log = logging.getLogger(__name__)


def home() -> Path:
    """Where ir_datasets keeps what it downloads and builds: $IR_DATASETS_HOME."""
    import ir_datasets

    return Path(ir_datasets.util.home_path())


def load(dataset: str):
    """An ir_datasets dataset, whatever its source."""
    import ir_datasets

    folder = folder_of(dataset)
    if folder is None:
        try:
            return ir_datasets.load(dataset)
        except KeyError as error:
            raise InputError(
                f"ir_datasets has no dataset {dataset}; see https://ir-datasets.com, or say path:FOLDER for one of your own"
            ) from error
    from epic.local import local_dataset  # its classes are made of ir_datasets', which is slow to import

    return local_dataset(folder)


@contextmanager
def alone():
    """Only one process at a time downloads or builds: ir_datasets corrupts its stores otherwise."""
    with ExitStack() as stack:
        try:
            _lock(stack.enter_context(open(home() / "epic.lock", "a")))
        except OSError as error:  # a home that is read-only can still be read; some disks of clusters know no locks
            log.warning("%s cannot be locked (%s); no two processes may build there at once", home(), error.strerror)
        yield


def _lock(stream) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.info("waiting for another process that downloads or builds in %s", home())
        fcntl.flock(stream, fcntl.LOCK_EX)
