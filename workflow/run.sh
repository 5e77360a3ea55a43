#!/bin/sh
# Run Snakemake, going on by itself after a crash: one run at a time in this folder, what was damaged is removed and made again,
# and so is what a killed run left unfinished (profiles/default: rerun-incomplete). The lock is this shell's, and Snakemake's when
# the shell becomes Snakemake; epic/core/run_lock.py says when it is taken over from a run that did not end.
set -eu
here=$(dirname "$0")/..
lock() {
    PYTHONPATH="$here" python -m epic.core.run_lock "$1" results $$
}
lock take
trap 'lock release' EXIT  # not once the shell is Snakemake
trap 'exit 1' HUP INT TERM
PYTHONPATH="$here" python -m epic mend results
cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}  # Snakemake keeps its rules there while it runs
if ! { mkdir -p "$cache" && probe=$(mktemp "$cache/epic.XXXXXX") && head -c 100000 /dev/zero > "$probe"; } 2> /dev/null; then
    export XDG_CACHE_HOME="$PWD/.snakemake/cache"  # a home that is missing, read-only or full is no reason not to run
fi
rm -f "${probe:-}"
exec snakemake "$@"
