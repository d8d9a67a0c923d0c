#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# instructions.sh check|record PROGRAM RECORDS COMPILER
#
# Counts the instructions of one call of every path of PROGRAM (instructions.c) with the AVX2 set under
# callgrind, and compares with RECORDS: lines "COMPILER PATH COUNT".  More than 1 % above fails.
# Counts belong to a compiler: they are compared with the lines of this one only; where it has none the
# check is skipped (status 77), as it is without valgrind or without AVX2.
set -eu
[ $# = 4 ] || {
    sed -n '3s/^# //p' "$0" >&2
    exit 2
}
mode=$1 program=$2 records=$3 compiler=$4
renew="sh bench/instructions.sh record $program $records '$compiler'"

skip()
{
    echo "skipped: $1"
    exit 77
}
command -v valgrind >/dev/null || skip "valgrind is not installed"
grep -qw avx2 /proc/cpuinfo 2>/dev/null || skip "this CPU has no AVX2"
if [ "$mode" = check ] && ! grep -q "^$compiler " "$records"; then
    skip "no counts recorded for $compiler; to record them: $renew"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count PATH CALLS: instructions of one call
count()
{
    ROPE_ISA=avx2 valgrind --tool=callgrind --toggle-collect=counted \
        "--callgrind-out-file=$work/out" "$program" "$1" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    total=$(sed -n 's/^totals: //p' "$work/out")
    [ "${total:-0}" -gt 0 ] || {
        echo "callgrind counted nothing in $1" >&2
        exit 1
    }
    echo $(((total + $2 / 2) / $2))
}

"$program" >"$work/paths"
: >"$work/new"
failed=0
while read -r path calls; do
    now=$(count "$path" "$calls")
    echo "$compiler $path $now" >>"$work/new"
    [ "$mode" = check ] || continue
    before=$(sed -n "s/^$compiler $path //p" "$records")
    if [ -z "$before" ]; then
        echo "$path: $now, nothing recorded"
        failed=1
    elif [ $((now * 100)) -gt $((before * 101)) ]; then
        echo "$path: $now instructions a call, recorded $before: more than 1 % above"
        failed=1
    else
        echo "$path: $now instructions a call, recorded $before"
    fi
done <"$work/paths"

if [ "$mode" = record ]; then
    { grep -v "^$compiler " "$records" 2>/dev/null || true; } >"$work/all"
    cat "$work/all" "$work/new" >"$records"
    sed -n "s/^$compiler //p" "$records"
elif [ $failed != 0 ]; then
    echo "If that is meant: $renew"
fi
exit $failed
