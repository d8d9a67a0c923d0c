# SPDX-License-Identifier: Apache-2.0
# For the scripts here, which source it from the root of the tree: builds what they run.
. cmake/packages.sh

build=${ROPE_BENCH_BUILD:-build/bench}

# bench_build TARGET: in $build; installs what the build needs.  Names the commit for the record.
bench_build()
{
    rope_need g++ cmake make pkg-config libsleef-dev libbenchmark-dev >&2
    mkdir -p "$(dirname "$build")"
    {
        cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DROPE_BUILD_BENCHMARKS=ON &&
            cmake --build "$build" --parallel "$(nproc)" --target "$1"
    } >"$build.log" 2>&1 || {
        cat "$build.log" >&2
        exit 1
    }
    ROPE_BENCH_COMMIT=unknown
    if git rev-parse --git-dir >/dev/null 2>&1; then
        ROPE_BENCH_COMMIT=$(git rev-parse --short=12 HEAD)
        [ -z "$(git status --porcelain --untracked-files=no)" ] ||
            ROPE_BENCH_COMMIT=$ROPE_BENCH_COMMIT-dirty
    fi
    export ROPE_BENCH_COMMIT
}
