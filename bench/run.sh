#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [--quick | --full] [--output FILE] [FLAG of Google Benchmark...]
#
# Builds the library and the suite, runs it and leaves one file, the raw output of Google Benchmark, in
# bench-results/.  Nothing is sent anywhere.
#   default  15 repetitions of what the dashboard shows, under 10 minutes
#   --quick  7 repetitions of the main rows, under a minute
#   --full   15 repetitions of everything there is; takes about an hour
#
#   ROPE_BENCH_BUILD    where to build (build/bench)
#   ROPE_BENCH_LIBRARY  a ready librope.so to measure instead of the one just built
set -eu
cd "$(dirname "$0")/.."
. bench/build.sh

mode=default output=''
repetitions=15 min_time=0.005
while [ $# -gt 0 ]; do
    case $1 in
    --quick) mode=quick ;;
    --full) mode=full ;;
    --output)
        shift
        output=${1:?"--output needs a file"}
        ;;
    --help)
        sed -n '3,12s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) break ;;
    esac
    shift
done
case $mode in
quick)
    repetitions=7
    set='isa:(avx2|avx512|neon)/dtype' shape='d:128/hq:32/hkv:8/seq:(1|128|2048|8192)'
    filter="^((apply|apply_rows|decode)/$set:(f32|bf16)/pair:half/$shape"
    filter="$filter|apply/$set:(f32/pair:interleaved|f16/pair:half)/$shape"
    filter="$filter|(table|row|call)/$set:f32/.*seq:(1|8192))/"
    ;;
default)
    # All but: scalar beyond 512 tokens; the longest of what takes long; side jobs in interleaved pairs.
    side='(decode|shift|mla|mrope|part|copy|sinusoid)/.*'
    filter="-isa:scalar.*/seq:[0-9]{4,}/|dtype:f64.*/seq:[0-9]{5,}/|$side/seq:(8192|32768)/"
    filter="$filter|pair:interleaved.*/seq:32768/|f16.*/seq:32768/|$side/?pair:interleaved"
    ;;
full) filter=all ;;
esac

echo "building in $build; its time does not count" >&2
bench_build rope_bench
export ROPE_BENCH_PROGRESS=1

if [ -z "$output" ]; then
    mkdir -p bench-results
    output=bench-results/$(date -u +%Y%m%dT%H%M%SZ)-$ROPE_BENCH_COMMIT.json
fi
started=$(date +%s)
"$build/bench/rope_bench" "--benchmark_filter=$filter" "--benchmark_repetitions=$repetitions" \
    --benchmark_enable_random_interleaving=true "--benchmark_min_time=$min_time" \
    "--benchmark_out=$output" --benchmark_out_format=json "$@" >"$build.log"
grep -q '"run_type": "iteration"' "$output" || {
    echo "no benchmark has such a name" >&2
    exit 1
}
echo "measured in $(($(date +%s) - started)) s"
echo "$output"
echo "bench/dashboard.py bench-results/*.json makes the pages; bench/compare.py OLD NEW compares two runs"
