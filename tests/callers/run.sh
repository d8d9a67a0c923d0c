#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [ggml] [onnxruntime]: builds the custom ops for these runtimes (default: both) against an installed
# librope, as a stranger would, and compares each with the runtime's own rope.  Status 77: skipped, since
# a runtime's package cannot be had.
#   ROPE_PREFIX         where librope is installed (default: built from this tree and installed in the
#                       build directory)
#   ROPE_CALLERS_BUILD  where to build (build/callers)
#   ROPE_CALLERS_VENV   the Python environment (~/.cache/librope/callers)
set -eu
cd "$(dirname "$0")/../.."
. cmake/packages.sh

build=${ROPE_CALLERS_BUILD:-build/callers}
mkdir -p "$build"
build=$(cd "$build" && pwd)
rope_need gcc cmake make python3 python3-venv

prefix=${ROPE_PREFIX:-$build/installed}
if [ -z "${ROPE_PREFIX:-}" ]; then
    rope_need libc6-dev pkg-config libsleef-dev
    {
        cmake -S . -B "$build/librope" -DCMAKE_BUILD_TYPE=Release -DROPE_BUILD_TOOL=OFF &&
            cmake --build "$build/librope" --parallel "$(nproc)" &&
            cmake --install "$build/librope" --prefix "$prefix"
    } >"$build/librope.log" 2>&1 || {
        cat "$build/librope.log" >&2
        exit 1
    }
fi

venv=${ROPE_CALLERS_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/librope/callers}
python=$venv/bin/python
[ -x "$python" ] || python3 -m venv "$venv"

skipped=no

# wheels REQUIREMENT...: in the environment, or a word about them
wheels()
{
    "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$@" \
        >"$build/pip.log" 2>&1 || {
        tail -n 1 "$build/pip.log"
        echo "skipped: $runtime: no wheels of $*"
        skipped=yes
        return 1
    }
}

# configure DIRECTORY PREFIXES: the directory's own CMakeLists.txt, warnings as errors
configure()
{
    {
        cmake -S "tests/callers/$1" -B "$build/$1" -DCMAKE_BUILD_TYPE=Release \
            -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror" \
            -DCMAKE_PREFIX_PATH="$2" && cmake --build "$build/$1"
    } >"$build/$1.log" 2>&1 || {
        cat "$build/$1.log" >&2
        exit 1
    }
}

[ $# -gt 0 ] || set -- ggml onnxruntime
for runtime; do
    echo "== $runtime"
    case $runtime in
    ggml)
        # Its libraries, headers and CMake package.
        wheels libggml-python==0.20.2.post1 || continue
        home=$("$python" -c 'import libggml; print(libggml.__path__[0])')
        configure ggml_op "$prefix;$home"
        "$build/ggml_op/compare"
        ;;
    onnxruntime)
        wheels onnxruntime==1.32.0 onnx numpy || continue
        configure onnxruntime_op "$prefix"
        "$python" -B tests/callers/onnxruntime_op/compare.py "$build/onnxruntime_op/librope_onnxruntime.so"
        ;;
    *)
        echo "unknown runtime: $runtime" >&2
        exit 2
        ;;
    esac
done
[ $skipped = no ] || exit 77
