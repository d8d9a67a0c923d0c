#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coverage.sh [--lines] [--report BUILD]: how many branches of src/ and kernels/ the suite takes both ways.
#
# Builds with clang's source-based coverage, runs every test that runs on this CPU (with qemu-user also on one
# without AVX) and fails below 95 % or where a branch is missed that tests/coverage.txt does not name.
# --report only evaluates a build made so, whose tests wrote BUILD/profiles.  --lines lists what is missed.
#   ROPE_COVERAGE_BUILD   where to build (build/coverage)
set -eu
cd "$(dirname "$0")/.."
. cmake/packages.sh

lines='' build=''
while [ $# -gt 0 ]; do
    case $1 in
    --lines) lines=--lines ;;
    --report)
        build=$2
        shift
        ;;
    *)
        echo "unknown argument: $1" >&2
        exit 2
        ;;
    esac
    shift
done

rope_need clang python3
rope_need "llvm-$(clang -dumpversion | cut -d. -f1)"
if [ -z "$build" ]; then
    build=${ROPE_COVERAGE_BUILD:-build/coverage}
    rope_need cmake make pkg-config libsleef-dev libcmocka-dev libmpfr-dev libjansson-dev
    rope_need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    rope_want qemu-user || echo "qemu-user cannot be installed: no CPU without AVX"
    cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DROPE_BUILD_TESTS=ON \
        -DCMAKE_C_FLAGS="-O1 -g0 -fprofile-instr-generate -fcoverage-mapping -DROPE_TEST_INSTRUMENTED" \
        >/dev/null
    LLVM_PROFILE_FILE=/dev/null cmake --build "$build" --parallel "$(nproc)"
    rm -rf "$build/profiles"
    build=$(cd "$build" && pwd)
    # Without load: the runtime of the coverage keeps memory for each library that was loaded.
    # %4m: up to four files for each program, into which its runs add up
    LLVM_PROFILE_FILE="$build/profiles/%4m.profraw" \
        ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" --exclude-regex '^(header|load$)'
fi

profdata=$(clang -print-prog-name=llvm-profdata)
cov=$(clang -print-prog-name=llvm-cov)
"$profdata" merge -sparse "$build"/profiles/*.profraw -o "$build/coverage.profdata"
set -- "$build/librope.so"
for object in "$build/librope-config.so" "$build/rope" "$build"/tests/test_vec_*; do
    case $object in
    *.dir | *.cmake) ;;
    *) [ ! -f "$object" ] || set -- "$@" -object "$object" ;;
    esac
done
"$cov" show "$@" -instr-profile="$build/coverage.profdata" -show-branches=count >"$build/coverage.show"
python3 -B tests/coverage.py $lines "$PWD" tests/coverage.txt <"$build/coverage.show"
