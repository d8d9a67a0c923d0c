#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_inspect.sh TOOL
# rope inspect: its tables against the formulas of rope.h evaluated by awk, the width of its lines, that hostile
# strings are escaped on its page and that the page refers to nothing.
set -eu
# shellcheck source=tests/tool.sh
. "$(dirname "$0")/tool.sh"

# near NAME: lines "pair frequency wavelength unscaled times state" of standard input against those of ./wanted
near()
{
    paste -d ' ' - wanted | awk -v name="$1" '
        function off(a, b) { return a - b > 5.1e-9 * b || b - a > 5.1e-9 * b }
        { if ($1 != $7 || off($2, $8) || off($3, $9) || off($4, $10) || $5 - $11 > 6e-5 || $11 - $5 > 6e-5 || $6 != $12) {
              print name ": " $0; wrong = 1 } }
        END { exit wrong || NR == 0 }' || fail "$1: other numbers than the formula"
}

# pairs FILE: the rows of its first table
pairs()
{
    awk '$1 == "pair" { table = 1; next } table && $1 !~ /^[0-9]+$/ { exit } table' "$1"
}

# ---- Numbers -------------------------------------------------------------------------------------

"$rope" inspect llama-3.1-8b >llama
contains llama 'llama-3.1-8b (meta-llama/Llama-3.1-8B): 1 rotation' 'scheme            llama3' \
    'head              128 elements, 128 rotated' '  0-31: rotation 0'
# llama3: kept above 4 turns over 8192 tokens, a quotient below 1, between them a mean of both
awk 'BEGIN {
    pi = atan2(0, -1)
    for (i = 0; i < 64; i++) {
        e = exp(-2 * i / 128 * log(500000))
        turns = 8192 * e / (2 * pi)
        part = (turns - 1) / (4 - 1)
        f = turns > 4 ? e : turns < 1 ? e / 8 : (1 - part) * e / 8 + part * e
        printf "%d %.17g %.17g %.17g %.17g %s\n", i, f, 2 * pi / f, 2 * pi / e, e / f,
            (turns > 4 ? "kept" : turns < 1 ? "interpolated" : "blended")
    }
}' >wanted
pairs llama | near llama3
[ "$(pairs llama | wc -l)" -eq 64 ] || fail "not 64 pairs"

# yarn of DeepSeek-V3: theta 10000, 4096 tokens, s = 40: the ramp goes from pair 10 to pair 23
"$rope" inspect deepseek-v3 >deepseek
awk 'BEGIN {
    pi = atan2(0, -1)
    for (i = 0; i < 32; i++) {
        e = exp(-2 * i / 64 * log(10000))
        ramp = (i - 10) / (23 - 10)
        ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp
        f = e / 40 * ramp + e * (1 - ramp)
        printf "%d %.17g %.17g %.17g %.17g %s\n", i, f, 2 * pi / f, 2 * pi / e, e / f,
            (ramp == 0 ? "kept" : ramp == 1 ? "interpolated" : "blended")
    }
}' >wanted
pairs deepseek | near yarn
# (1 + 0.1 ln 40)^2
contains deepseek '192 elements, 64 rotated from 128 on' 'interleaved, left half-split' 'softmax factor    1.873854207' \
    'key head          64 elements, rotated from 0 on'

# linear and a layer map: every sixth layer has the first rotation
"$rope" inspect gemma-3-4b >gemma
contains gemma '0-4: rotation 1,  5: rotation 0,  6-10: rotation 1' 'factor            8'
awk 'BEGIN {
    pi = atan2(0, -1)
    for (i = 0; i < 128; i++) {
        e = exp(-2 * i / 256 * log(1000000))
        printf "%d %.17g %.17g %.17g 8 interpolated\n", i, e / 8, 16 * pi / e, 2 * pi / e
    }
}' >wanted
pairs gemma | near linear

# axes: 16, 24 and 24 pairs in a row
"$rope" inspect qwen2-vl-7b >qwen
pairs qwen | awk '$2 != ($1 < 16 ? 0 : $1 < 40 ? 1 : 2) { exit 1 }' || fail "axes of qwen2-vl"
contains qwen 'axes              3, sections: 16 24 24' 'rotation 1: vision, of vision_config' 'warnings'

# layers without rotation
"$rope" inspect smollm3-3b >smollm
contains smollm '0-2: rotation 0,  3: none,  4-6: rotation 0'

# half of a head at rest
echo '{"head_dim": 64, "rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.5}}' >still.json
"$rope" inspect still.json -o still.html >still
[ "$(pairs still | grep -c 'inf .* -  not rotated$')" -eq 16 ] || fail "pairs at rest: $(pairs still | tail -2)"

for name in llama-3.1-8b qwen2-vl-7b gemma-3-4b deepseek-v3 gpt-oss-20b phi-3-vision glm-4-9b smollm3-3b; do
    "$rope" inspect --output="$name.html" "$name" >out || fail "$name"
    awk 'length > 80 { exit 1 }' out || fail "$name: a line of more than 80 columns"
    [ "$(grep -o '<figure>' "$name.html" | wc -l)" -eq "$(grep -o '<table>' "$name.html" | wc -l)" ] ||
        fail "$name: a figure without a table"
    grep -qiE 'https?:|src=|href=|url\(|<script|<link|@import' "$name.html" && fail "$name.html refers to something"
    [ "$(tail -c 8 "$name.html")" = '</html>' ] || fail "$name.html has no end"
done
"$rope" inspect phi-3-vision --length 5000 >long
contains long 'longrope, long list'

# ---- Hostile strings -----------------------------------------------------------------------------

evil='<script>alert(1)</script>&amp;"'
name="<img src=x onerror=alert(2)>&'.json"
printf '{"model_type": "%s", "head_dim": 8, "num_hidden_layers": 1, "layer_types": ["%s"], "rope_parameters":
 {"%s": {"rope_type": "default", "rope_theta": 10000, "<b>\\u001b[31m": 1}}}' \
    '<script>alert(1)</script>' '<i>layer</i>' '<i>layer</i>' >"x$name"
cp "x$name" "$name"
if "$rope" inspect "$name" -o evil.html >evil.txt 2>err; then
    grep -qE '<(script|img|b>|i>)' evil.html && fail "markup of the configuration is on the page"
    contains evil.html '&#60;img src=x onerror=alert(2)&#62;&#38;&#39;.json' '&#60;script&#62;alert(1)&#60;/script&#62;'
    [ "$(tr -d '\012\040-\176' <evil.txt | wc -c)" -eq 0 ] || fail "control characters in the tables"
else
    fail "$evil: $(cat err)"
fi

# ---- Refusals ------------------------------------------------------------------------------------

# refuse PATTERN ARGUMENT...
refuse()
{
    pattern=$1
    shift
    before=$(ls -A)
    status=0
    text=$("$rope" inspect "$@" 2>&1 >/dev/null) || status=$?
    [ $status = 2 ] || fail "exit code $status, not 2: inspect $*"
    case $text in
    *"
"*) fail "more than one line: $text" ;;
    "rope: "*"$pattern"*) ;;
    *) fail "'$text' does not say '$pattern'" ;;
    esac
    [ "$(ls -A)" = "$before" ] || fail "files have changed: inspect $*"
}
refuse 'no-such-model: No such file' no-such-model -o new.html
refuse 'exactly one config.json' -o new.html
refuse 'exactly one config.json' llama-3.1-8b gpt-oss-20b
refuse '--output: value missing' llama-3.1-8b -o
refuse 'cannot be written' llama-3.1-8b -o none/new.html
refuse 'directory' llama-3.1-8b -o .
echo '{"head_dim": 7}' >odd.json
refuse 'odd.json: ' odd.json -o new.html
echo "all as expected"
