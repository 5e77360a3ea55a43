#!/bin/sh
# Run Snakemake, going on by itself after a crash: one run at a time in this folder, a lock that a killed run left
# behind is removed, and so are damaged vectors. What it left unfinished is made again (profiles/default: rerun-incomplete).
set -eu
mkdir -p .snakemake
exec 9> .snakemake/run.lock
flock --nonblock 9 || { echo "another run holds .snakemake/run.lock in this folder; wait for it to end" >&2; exit 1; }
for process in /proc/[0-9]*; do
    [ "$(readlink "$process/cwd" 2>/dev/null)" = "$(pwd -P)" ] || continue
    case "$(tr '\0' ' ' 2>/dev/null < "$process/cmdline")" in
        *bin/snakemake\ * | *\ -m\ snakemake\ *)
            echo "snakemake is running in this folder already (process ${process#/proc/}); wait for it to end" >&2
            exit 1 ;;
    esac
done
if [ -n "$(ls -A .snakemake/locks 2>/dev/null)" ]; then
    echo "removing the lock of a run that did not end" >&2
    snakemake "$@" --unlock > /dev/null 2>&1 || true  # the run itself says what is wrong
fi
PYTHONPATH="$(dirname "$0")/.." python -m epic mend results  # what was damaged meanwhile is made again
exec snakemake "$@"
