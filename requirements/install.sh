#!/bin/sh
# Make an environment of the lock: install.sh PYTHON FOLDER [cpu|cuda]. Every file that is installed has a hash in the lock, and
# what comes as source is built by the locked setuptools. uv is used where it is, pip where it is not or fails.
set -eu
python=$1 folder=$2 torch=${3:-}
lock=$(dirname "$0")

"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' || {
    echo "The locked packages need Python 3.11 or 3.12; $python is $("$python" -V 2>&1)." \
        "Install python3.11 and python3.11-venv, or say make PYTHON=/path/to/python3.11 ..." >&2
    exit 1
}
case $torch in "" | cpu | cuda) ;; *) echo "TORCH is cpu or cuda, not $torch" >&2; exit 1 ;; esac

pip() {
    "$folder/bin/python" -m pip --disable-pip-version-check "$@"
}

install() {  # pip's options and files; uv knows these too
    if [ "$uv" ]; then
        uv pip install --quiet --python "$folder/bin/python" --index-strategy unsafe-best-match --require-hashes --no-deps \
            --no-build-isolation "$@" && return
        echo "uv could not install the locked packages; pip is used instead" >&2
        uv=
    fi
    pip install --quiet --require-hashes --no-deps --no-build-isolation --use-pep517 "$@"
}

rm -f "$folder/.ready"
"$python" -m venv --clear "$folder"
uv=$(command -v uv || true)
: "${UV_FIND_LINKS=$(echo "${PIP_FIND_LINKS:-}" | tr ' ' ,)}" "${UV_EXTRA_INDEX_URL=${PIP_EXTRA_INDEX_URL:-}}"  # as pip has them
export UV_FIND_LINKS UV_EXTRA_INDEX_URL

if [ "$torch" != cuda ] && ! found=$(pip install --quiet --dry-run --require-hashes --no-deps -r "$lock/cpu.txt" 2>&1); then
    if [ "$torch" ]; then
        echo "$found" >&2
        echo "pip does not find the CPU build of torch. Set PIP_EXTRA_INDEX_URL to the address that pytorch.org names for it," \
            "or say make TORCH=cuda ..." >&2
        exit 1
    fi
    torch=cuda
fi
echo "installing the locked packages with the ${torch:=cpu} build of torch" >&2
sed -n '/^setuptools==/,/[^\\]$/p' "$lock/common.txt" > "$folder/setuptools.txt"
install -r "$folder/setuptools.txt"
install -r "$lock/common.txt" -r "$lock/$torch.txt"
# compat: Snakemake finds the plugin in snakemake_logger_plugin_epic/ only if the folder itself is on the path
pip install --quiet --no-deps --no-build-isolation --config-settings editable_mode=compat --editable .
pip check
echo "$torch" > "$folder/.ready"
