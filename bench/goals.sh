#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# goals.sh [--isa SET] [--only WORDS] [--seconds S]: the speed goals beside what is reached here.
#
# Builds the library and measures it, the limit and plain C in turn (goals.cpp): first every row, then a
# table of goals for each vector set that this CPU has.  About two minutes a set.
#   --isa SET      this set alone; ROPE_ISA does the same
#   --only WORDS   only rows with these words in their name, such as "f32 half" or "shape"
#   --seconds S    for each row (0.6)
#
#   ROPE_BENCH_BUILD    where to build (build/bench)
#   ROPE_BENCH_LIBRARY  a ready librope.so to measure instead of the one just built
set -eu
cd "$(dirname "$0")/.."
. bench/build.sh
[ "${1-}" != --help ] || {
    sed -n '3,12s/^# \{0,1\}//p' bench/goals.sh
    exit 0
}
bench_build rope_goals
exec "$build/bench/rope_goals" "$@"
