"""The benchmark of `make bench`. What decides speed beside the code is pinned here, before torch is imported."""

import os
import sys

PINNED = {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


if "torch" not in sys.modules:  # in a benchmark; tests have their own settings
    os.environ.update(PINNED)
