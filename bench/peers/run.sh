#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [--quick]: prints the table of what programs use instead of librope.
#
# Builds the harness; puts the peers that come as wheels into a Python environment outside the tree.  A
# peer that cannot be installed is left out by name.
#   ROPE_BENCH_BUILD  where to build (build/bench)
#   ROPE_BENCH_VENV   the Python environment (~/.cache/librope/peers)
set -eu
cd "$(dirname "$0")/../.."
. bench/build.sh

rope_need python3 python3-venv python3-numpy >&2
# Debian's PyTorch is for CPUs alone; the wheel of the same name brings gigabytes for GPUs.
rope_want python3-torch >&2 || echo "python3-torch cannot be installed" >&2

bench_build rope_peers

venv=${ROPE_BENCH_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/librope/peers}
python=$venv/bin/python
if [ ! -x "$python" ]; then
    system=/usr/bin/python3 # Debian's, whose packages the environment sees
    [ -x $system ] || system=python3
    $system -m venv --system-site-packages "$venv" >&2
fi

# wheel PACKAGE IMPORT: installed, or a word about it
wheel()
{
    "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$2') is None)" ||
        "$python" -m pip install --quiet --only-binary :all: "$1" 'numpy<2' >/dev/null 2>&1 || {
        echo "$1 cannot be installed as a wheel" >&2
        return 1
    }
}
# Debian's PyTorch knows NumPy 1 only.
"$python" -c 'import numpy, sys; sys.exit(numpy.__version__ < "1.26" or numpy.__version__ >= "2")' ||
    "$python" -m pip install --quiet --only-binary :all: 'numpy>=1.26,<2' >&2 || :
wheel onnxruntime onnxruntime || :
wheel onnx onnx || :
# ggml's own libraries: from llama-cpp-python if it has a wheel here, else from a small wheel with the same.
wheel llama-cpp-python llama_cpp || wheel pywhispercpp pywhispercpp || :

cached()
{
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
compiler="$("$(cached CMAKE_C_COMPILER)" --version | head -n 1), $(cached CMAKE_C_FLAGS_RELEASE)"
exec "$python" -B bench/peers/peers.py "--compiler=$compiler" "$@" \
    "$build/bench/librope_peers.so"
