#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_bench.sh names|run|compare|goals|gate PROGRAM SOURCE_DIRECTORY HAS_SET
# The benchmark suite: its names are those that dashboards know, what it writes is what they read, and two
# of its runs can be compared.  Tests no speed.
set -eu
what=$1 program=$2 source=$3 has_set=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail()
{
    echo "$1" >&2
    exit 1
}

names()
{
    # Each set that this CPU has offers every name; a set that it has not offers none.
    "$program" --benchmark_list_tests | LC_ALL=C sort >"$work/all"
    grep /isa:auto/ "$work/all" >"$work/auto"
    grep /isa:auto/ "$source/bench/names.txt" | diff - "$work/auto" || fail "names of isa:auto differ"
    found=0
    for set in scalar avx2 avx512 neon; do
        grep "/isa:$set/" "$work/all" | sed "s,/isa:$set/,/isa:*/," | LC_ALL=C sort >"$work/set" || true
        if "$has_set" $set; then
            grep -F '/isa:*/' "$source/bench/names.txt" | diff - "$work/set" ||
                fail "names of isa:$set differ from bench/names.txt; new meanings need new names"
            found=$((found + 1))
        elif [ -s "$work/set" ]; then
            fail "isa:$set is registered, but this CPU or build has it not"
        fi
    done
    [ $found -gt 0 ] || fail "no set found"
    # Form: job, then keys in one order.
    form='^[a-z_]+/isa:[a-z0-9]+/dtype:(f32|f64|f16|bf16)(/pair:(half|interleaved))?/d:[0-9]+'
    form="$form(/hq:[0-9]+/hkv:[0-9]+)?/seq:[0-9]+/real_time\$"
    bad=$(grep -vE "$form" "$work/all" || true)
    [ -z "$bad" ] || fail "names out of form: $bad"
}

# measure FILE: some rows of every job, quickly
measure()
{
    ROPE_BENCH_COMMIT=0123456789ab "$program" --benchmark_repetitions=3 --benchmark_min_time=0.0005 \
        --benchmark_enable_random_interleaving=true --benchmark_out="$1" --benchmark_out_format=json \
        '--benchmark_filter=/isa:(scalar|auto)/.*/d:(2|32|64|128|1024)/.*seq:16?/' >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        fail "the suite failed"
    }
}

run()
{
    measure "$work/result.json"
    python3 - "$work/result.json" <<'END'
import json, math, sys
text = open(sys.argv[1]).read()
def refuse(word):
    raise ValueError(word)
document = json.loads(text, parse_constant=refuse)  # NaN is no JSON
context = document["context"]
for key in ("rope_version", "rope_commit", "rope_isa", "rope_sleef", "rope_compiler", "cpu_model",
            "governor", "l1d", "l2", "l3"):
    assert isinstance(context[key], str) and context[key], key
assert context["rope_commit"] == "0123456789ab"
rows = [row for row in document["benchmarks"] if row["run_type"] == "iteration"]
jobs = {row["name"].split("/")[0] for row in rows}
assert jobs >= {"apply", "apply_rows", "decode", "shift", "mla", "mrope", "part", "copy", "partial",
                "sinusoid", "call", "table", "row"}, jobs
count = {}
for row in rows:
    name = row["name"]
    count[name] = count.get(name, 0) + 1
    assert name == row["run_name"] and name.endswith("/real_time"), name
    for key in ("real_time", "bytes_per_second", "items_per_second", "roof_gbps", "roof_ratio",
                "ns_per_token"):
        assert math.isfinite(row[key]) and row[key] > 0, (name, key, row.get(key))
    keys = dict(part.split(":") for part in name.split("/")[1:-1])
    tokens = int(keys["seq"])
    time = row["real_time"]
    # The counters follow from time, tokens and bytes.
    assert math.isclose(row["ns_per_token"], time / tokens, rel_tol=1e-6), name
    assert math.isclose(row["items_per_second"], tokens / time * 1e9, rel_tol=1e-6), name
    size = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2}[keys["dtype"]]
    heads = int(keys.get("hq", 0)) + int(keys.get("hkv", 0))
    bytes_moved = tokens * int(keys["d"]) * size
    if name.split("/")[0] not in ("table", "row"):  # those only write
        bytes_moved *= 2 * max(heads, 1)
    assert math.isclose(row["bytes_per_second"], bytes_moved / time * 1e9, rel_tol=1e-6), name
assert set(count.values()) == {3}, count
print(len(count), "benchmarks,", len(rows), "rows")
END
}

# The tools take what the suite writes.
compare()
{
    measure "$work/result.json"
    python3 -B "$source/bench/compare.py" "$work/result.json" "$work/result.json"
    for tool in github bencher lnt benchstat conbench; do
        python3 -B "$source/bench/convert.py" --to $tool "$work/result.json" >"$work/out.$tool"
        [ -s "$work/out.$tool" ] || fail "nothing for $tool"
    done
    cmp "$work/result.json" "$work/out.conbench"
    python3 -B "$source/bench/dashboard.py" --output "$work/site" "$work/result.json"
    cmp "$work/result.json" "$work"/site/raw/*.json
    PYTHONPATH=$source/tests python3 -B - "$work/site/index.html" <<'END'
import pathlib, sys
import browser
if browser.find() is None:
    print("the page is not opened: chromium is not installed")
    sys.exit()
url = pathlib.Path(sys.argv[1]).as_uri()
with browser.Browser(browser.find()) as one:
    for width in (400, 1600):
        one.open(url, width)
        assert one.evaluate("document.documentElement.dataset.drawn") == "yes"
        assert one.evaluate("document.documentElement.scrollWidth") <= width
        assert one.evaluate("document.querySelectorAll('figure circle').length") > 0
        assert one.requests() == [url] and one.complaints() == [], one.complaints()
END
}

# Every goal has its line for every vector set, and only for sets that this CPU has.
goals()
{
    found=0
    for set in avx2 avx512 neon; do
        if ! "$has_set" $set; then
            ! "$program" --isa $set --only call >"$work/out" 2>&1 || fail "$set is measured, but is not here"
            continue
        fi
        found=$((found + 1))
        "$program" --isa $set --only " 1" --seconds 0.01 >"$work/out" || fail "goals failed for $set"
        for line in "f32, ready row, one token" "time per head" "other shapes" "out of place, ready" \
            "librope / plain C" "time at a far position"; do
            grep -q "^| $line.* | .*[0-9].* | \(yes\|within 2 %\|\*\*no\*\*\)" "$work/out" ||
                fail "$set: no line for: $line"
        done
        # ready / limit of the row is what the line of the goal says.
        ratio=$(sed -n 's/^f32 half 1  *[^ ]* *[^ ]* *[^ ]* *[^ ]* *\([^ ]*\).*/\1/p' "$work/out")
        other=$(sed -n 's/^f32 interleaved 1  *[^ ]* *[^ ]* *[^ ]* *[^ ]* *\([^ ]*\).*/\1/p' "$work/out")
        worst=$(printf '%s\n%s\n' "$ratio" "$other" | sort -n | tail -n 1)
        grep -q "^| f32, ready row, one token / limit | [^|]*| $worst " "$work/out" || fail "$set: not $worst"
    done
    [ $found -gt 0 ] || {
        echo "skipped: no vector set here"
        exit 77
    }
    ! "$program" --nonsense >"$work/out" 2>&1 || fail "an unknown option is accepted"
}

# The gate over counts of instructions, with a counter in place of valgrind that counts what it is told.
gate()
{
    mkdir "$work/bin"
    cat >"$work/bin/valgrind" <<'END'
#!/bin/sh
for argument; do
    case $argument in
    --callgrind-out-file=*) echo "totals: $TOTAL" >"${argument#*=}" ;;
    esac
done
END
    chmod +x "$work/bin/valgrind"
    PATH=$work/bin:$PATH
    gate_run() # TOTAL MODE
    {
        status=0
        TOTAL=$1 sh "$source/bench/instructions.sh" "$2" "$program" "$work/records" gnu-1.0 >"$work/out" 2>&1 ||
            status=$?
        echo $status
    }
    paths=$("$program" | wc -l)
    echo "other-2.0 token_f32_half 5" >"$work/records"
    case $(gate_run 64000 check) in
    77) grep -q 'skipped: this CPU has no AVX2' "$work/out" && {
        cat "$work/out"
        exit 77
    } ;;
    *) fail "without a record of its compiler the check is not skipped" ;;
    esac
    [ "$(gate_run 64000 record)" = 0 ] || fail "cannot record"
    [ "$(grep -c '^gnu-1.0 .* 1000$' "$work/records")" = "$paths" ] || fail "wrong records"
    grep -qx "other-2.0 token_f32_half 5" "$work/records" || fail "the record of another compiler is lost"
    [ "$(gate_run 64640 check)" = 0 ] || fail "1 % above is refused"
    [ "$(gate_run 60000 check)" = 0 ] || fail "fewer are refused"
    [ "$(gate_run 64704 check)" = 1 ] || fail "1.1 % above is accepted"
    [ "$(grep -c 'more than 1 % above' "$work/out")" = "$paths" ] || fail "not every path is named"
    command=$(sed -n 's/^If that is meant: //p' "$work/out")
    (cd "$source" && TOTAL=64704 sh -c "$command" >/dev/null) || fail "the printed command fails: $command"
    [ "$(gate_run 64704 check)" = 0 ] || fail "the printed command renews nothing"
    [ "$(gate_run 0 check)" = 1 ] || fail "a count of nothing is accepted"
    sed -i '/gnu-1.0 row_f32/d' "$work/records"
    [ "$(gate_run 64704 check)" = 1 ] || fail "a path without a record is accepted"
}

command -v python3 >/dev/null || {
    echo "skipped: no python3"
    exit 77
}
$what
