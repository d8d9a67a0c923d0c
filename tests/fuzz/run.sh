#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer:
#
#   sh tests/fuzz/run.sh [--executions N] [--seconds S] [--jobs J] [--seed X] [TARGET...]
#
# Each target (all of them without arguments) runs until it has made N executions (10^8) or S seconds
# (3600) are over, J at a time (as many as there are CPUs).  Ends with executions, edges covered and findings
# of each; status 1 if there are findings.  What was learnt is kept in ROPE_FUZZ_BUILD (build/fuzz) for
# the next run; a finding lies there too, and is repeated by giving its path to the target's program.
# Inputs are others in every run, unless a seed other than 0 is given: the same build then tries the same ones, as
# far as its time goes.  An input that has shown a fault goes to tests/fuzz/corpus/TARGET, which CTest replays.
set -eu
cd "$(dirname "$0")/../.."
. cmake/packages.sh

executions=100000000 seconds=3600 jobs=$(nproc) seed=0
while [ $# -gt 0 ]; do
    case $1 in
    --executions) executions=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --jobs) jobs=$2 && shift 2 ;;
    --seed) seed=$2 && shift 2 ;;
    -*)
        sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    *) break ;;
    esac
done

rope_need clang cmake make libc6-dev libsleef-dev libcmocka-dev libmpfr-dev libjansson-dev
rope_need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"

build=${ROPE_FUZZ_BUILD:-build/fuzz}
# -O1: what the sanitizers make of the kernels takes the compiler minutes at -O3.
cmake -S . -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 \
    -DROPE_BUILD_TESTS=ON -DROPE_FUZZ=ON -DROPE_SANITIZE=address,undefined >/dev/null
cmake --build "$build" --parallel "$(nproc)" --target fuzz

work=$build/fuzzing
mkdir -p "$work/findings"
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)
for target; do
    if [ ! -x "$build/tests/fuzz/fuzz_$target" ]; then
        echo "no such target: $target" >&2
        exit 2
    fi
    rm -f "$work/$target.log" "$work/$target.done"
done

# start TARGET: in the background; TARGET.done holds its status
start()
{
    mkdir -p "$work/corpus/$1"
    {
        status=0
        # A small quarantine: plans are large, and what is freed is seldom used late.
        ASAN_OPTIONS=quarantine_size_mb=8 nice -n 10 "$build/tests/fuzz/fuzz_$1" \
            -seed="$seed" -max_total_time="$seconds" -runs="$executions" -max_len=4096 -timeout=30 -report_slow_units=30 \
            -print_final_stats=1 -artifact_prefix="$work/findings/$1-" \
            "$work/corpus/$1" "tests/fuzz/corpus/$1" >"$work/$1.log" 2>&1 || status=$?
        echo $status >"$work/$1.done"
    } &
}

# stand TARGET: executions and edges so far
stand()
{
    sed -n 's/^#\([0-9]*\)[ \t].* cov: \([0-9]*\) .*/\1 executions, \2 edges/p' "$work/$1.log" 2>/dev/null |
        tail -n 1
}

shown=$(date +%s)
# show EVERY: a line for each running target, EVERY seconds at most
show()
{
    [ $(($(date +%s) - shown)) -ge "$1" ] || return 0
    shown=$(date +%s)
    for one in $running; do
        echo "  $one: $(stand "$one")"
    done
}

running='' failed=0
# settle MOST: waits until at most MOST targets are running
settle()
{
    while :; do
        left=''
        for one in $running; do
            if [ -f "$work/$one.done" ]; then
                echo "$one: done ($(stand "$one"))"
            else
                left="$left $one"
            fi
        done
        running=$left
        # shellcheck disable=SC2086
        [ "$(echo $running | wc -w)" -gt "$1" ] || return 0
        show 30
        sleep 1
    done
}

for target; do
    settle $((jobs - 1))
    echo "$target: up to $executions executions or $seconds s"
    start "$target"
    running="$running $target"
done
settle 0

echo
printf '%-12s %12s %8s %15s %9s\n' target executions per\ s edges findings
for target; do
    log=$work/$target.log
    made=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
    all=$(sed -n 's/.*Loaded 1 modules *(\([0-9]*\) .*/\1/p' "$log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    findings=$(find "$work/findings" -name "$target-*" | wc -l)
    printf '%-12s %12s %8s %15s %9s\n' "$target" "${made:-?}" "${rate:-?}" "${edges:-?} of ${all:-?}" "$findings"
    if [ "$findings" -ne 0 ] || [ "$(cat "$work/$target.done")" != 0 ]; then
        failed=1
        echo "== $target: the end of $log"
        grep -v '^#' "$log" | grep -v '^"' | tail -n 40
        find "$work/findings" -name "$target-*"
    fi
done
exit $failed
