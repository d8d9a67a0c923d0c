#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh BUILD: clang-tidy 14 (.clang-tidy) over src/ and the headers it includes, cppcheck (.cppcheck) over src/ and the
# scalar kernels; BUILD is any configured build directory.  Status 77: skipped, another version is here.
set -eu
cd "$(dirname "$0")/.."
. cmake/packages.sh
rope_need clang-tidy cppcheck

build=$1
cmake -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
clang-tidy --version | grep -q 'version 14\.' || {
    echo "skipped: the checks are those of clang-tidy 14"
    exit 77
}
cppcheck --quiet --std=c11 --enable=warning,performance,portability --suppressions-list=.cppcheck \
    --error-exitcode=1 -I include -I kernels -I src -DROPE_BUILDING -DROPE_HAVE_SCALAR -DROPE_HAVE_AVX2 \
    -DROPE_TOOL_CONFIG src kernels/kernels_scalar.c
# of kernels/ the sets that this build has
for source in $(find src kernels -name '*.c' | LC_ALL=C sort); do
    ! grep -q "/$source\"" "$build/compile_commands.json" || echo "$source"
done |
    xargs -n 8 -P "$(nproc)" clang-tidy --quiet -p "$build" 2>/dev/null
echo "clang-tidy and cppcheck have nothing to say"
