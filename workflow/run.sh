#!/bin/sh
# Run Snakemake, going on by itself after a crash: one run at a time in this folder, what was damaged is set aside and made again,
# and so is what a killed run left unfinished (profiles/default: rerun-incomplete). The lock is this shell's, and Snakemake's when
# the shell becomes Snakemake; epic/core/run_lock.py says when it is taken over from a run that did not end.
set -eu
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)  # this copy of the package and of the logger plugin, wherever the folder was moved to
export PYTHONPATH
lock() {
    python -m epic.core.run_lock "$1" results $$
}
lock take
trap 'lock release' EXIT  # not once the shell is Snakemake
trap 'exit 1' HUP INT TERM
python -m epic mend results
# Snakemake keeps its rules below the home while it runs: one that is missing, read-only or full is no reason not to run.
can_keep() {
    [ "${XDG_CACHE_HOME:-}" ] || [ -d "${HOME:-}" ] || return 1
    cache=${XDG_CACHE_HOME:-$HOME/.cache}
    mkdir -p "$cache" && probe=$(mktemp "$cache/epic.XXXXXX") && head -c 100000 /dev/zero > "$probe"
}
can_keep 2> /dev/null || export XDG_CACHE_HOME="$PWD/.snakemake/cache"
rm -f "${probe:-}"
exec python -P -m snakemake "$@"  # not the script `snakemake`, which names the folder it was installed in
