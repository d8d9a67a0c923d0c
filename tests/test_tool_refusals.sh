#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_tool_refusals.sh TOOL [config]
# Command lines and small files that the tool must refuse, each with its line; with config, also what it says
# about the models whose names it knows, from their papers and config files.
set -eu
with_config=${2-}
# shellcheck source=tests/tool.sh
. "$(dirname "$0")/tool.sh"

# npy FILE DESCR SHAPE BYTES: zeros of that type and shape
npy()
{
    {
        printf '\223NUMPY\001\000\166\000'
        printf '%-117s\n' "{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
        head -c "$4" /dev/zero
    } >"$1"
}

# refused PATTERN ARGUMENT...: status 2, one line that holds the pattern, no output
refused()
{
    pattern=$1
    shift
    rm -f out.npy
    status=0
    "$rope" "$@" >out 2>err || status=$?
    [ "$status" -eq 2 ] || fail "rope $*: status $status instead of 2: $(cat out err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "rope $*: not one line: $(cat err)"
    grep -qF -- "$pattern" err || fail "rope $*: no '$pattern' in: $(cat err)"
    [ ! -e out.npy ] || fail "rope $*: out.npy was written"
}

npy q.npy '<f4' '(2, 3, 2, 8)' 384
npy k.npy '<f4' '(2, 3, 1, 8)' 192
npy flat.npy '<f4' '(3, 2, 8)' 192
npy whole.npy '<i4' '(3, 2, 8)' 192
npy long.npy '<i8' '(3, 2, 8)' 384
npy half.npy '<f2' '(3,)' 6
npy words.npy '<u2' '(3,)' 6
npy three.npy '<i4' '(3,)' 12
npy two.npy '<i8' '(2,)' 16
npy each.npy '<f8' '(2, 3)' 48
npy other.npy '<f8' '(2, 2)' 32
npy thin.npy '<f8' '(3, 3)' 72
npy scalar.npy '<f8' '()' 8
npy none.npy '<f8' '(0,)' 0
npy one.npy '<f4' '(5,)' 20

# ---- positions: START, START:COUNT or a file of the right type and shape ----
apply='apply --q q.npy --q-out out.npy --positions'
table='table --rotary-dim 8 out.npy --positions'
# shellcheck disable=SC2086
{
    refused '2147483648: cannot be opened' $apply 2147483648 # no number of that range: a path
    refused '-2147483648' $apply -2147483648
    refused 'reach beyond 2^31 - 1' $apply 2147483646
    refused '1e3' $apply 1e3
    refused '-' $apply -
    refused '0x10' $apply 0x10
    refused 'positions must be <i4 <i8 <f4 or <f8' $apply half.npy
    refused 'positions must be <i4 <i8 <f4 or <f8' $apply words.npy
    refused 'positions must be [3] or [2, 3]' $apply two.npy
    refused 'positions must be [3] or [2, 3]' $apply other.npy
    refused 'positions must be [3] or [2, 3]' $apply thin.npy
    refused 'positions must be [3] or [2, 3]' $apply scalar.npy
    refused 'reach beyond 2^31 - 1' $table 2147483647:2
    refused 'reach beyond 2^31 - 1' $table 0:2147483650
    refused '--positions' $table 0:0x1
    refused '2147483648:1: cannot be opened' $table 2147483648:1
    refused 'positions must be [rows]' $table each.npy
    for file in three.npy each.npy; do
        "$rope" $apply $file || fail "$file was refused"
        cmp q.npy out.npy # at position 0
    done
    refused 'inverse frequencies must be [rotary_dim / 2]' $table 0:2 --inv-freq none.npy
    refused 'inverse frequencies must be [rotary_dim / 2]' $table 0:2 --inv-freq each.npy
    refused 'inv_freq_count' $table 0:2 --inv-freq one.npy
    refused '--scaling: does not go with --inv-freq' $table 0:2 --inv-freq one.npy --scaling linear --factor 2
    refused 'go with --config' $table 0:2 --layer 1
    refused 'go with --config' $table 0:2 --length 7
    refused 'go with --config' $table 0:2 --profile vllm
}

# ---- headers of .npy, in the words of others ----
# header DICT: that dict before nothing
header()
{
    {
        printf '\223NUMPY\001\000\377\000'
        printf '%-254b\n' "$1"
    } >header.npy
}
long=$(printf %0100d 7)
header "{'descr': '$long', 'fortran_order': False, 'shape': (0,), }"
refused 'header.npy: ' verify header.npy header.npy
header "{'$long': 1}"
refused 'header.npy: ' verify header.npy header.npy
header "{'de\\\\scr': '<f4', 'fortran_order': False, 'shape': (0,), }"
refused 'header.npy: ' verify header.npy header.npy
header "{'descr': '<f4', 'fortran_order': False, 'shape': (0"
refused 'header.npy: ' verify header.npy header.npy
header "{'descr': '<f4', 'fortran_order': Fals"
refused 'header.npy: ' verify header.npy header.npy
header "{\\r\\n\\t'descr' : '<f4', 'fortran_order': False, 'shape': (0,), }"
"$rope" verify header.npy header.npy >out || fail "white space was refused"
# what ignores a hang-up goes on ignoring it
(trap '' HUP && "$rope" table --rotary-dim 8 --positions 0:2 out.npy) || fail "with a signal ignored"

# ---- tensors ----
refused 'must be <f2 <f4 <f8' apply --q whole.npy --q-out out.npy --positions 0
refused 'must be <f2 <f4 <f8' apply --q long.npy --q-out out.npy --positions 0
refused 'go together' apply --q q.npy --positions 0
refused 'go together' apply --k-out out.npy --positions 0
refused 'flat.npy' apply --q q.npy --q-out q-out.npy --k flat.npy --k-out out.npy --positions 0
refused 'shape' apply --q one.npy --q-out out.npy --positions 0
refused 'out.npy' verify --q q.npy --q-out out.npy --positions 0
refused 'no command'
refused 'unknown command' rotate
refused '--theta' apply --q q.npy --q-out out.npy --positions 0 --theta=
refused '--theta' apply --q q.npy --q-out out.npy --positions 0 --theta nan
refused '--theta' apply --q q.npy --q-out out.npy --positions 0 --theta 1x
refused '--max-abs' verify q.npy q.npy --max-abs -1

[ "$with_config" = config ] || exit 0

# ---- models by their names ----

# says MODEL PATTERN...: lines of rope config
says()
{
    model=$1
    shift
    "$rope" config "$model" >said || fail "config $model"
    contains said "$@"
}

says llama-3.1-8b '"scheme": "llama3"' '"theta": 500000' '"factor": 8,' '"head_dim": 128'
says qwen2-vl-7b '"axis_layout": "sections"' '"sections": [16, 24, 24]' '"axes": 3' '"theta": 1000000'
says gemma-3-4b '"layer_type": "full_attention"' '"layer_type": "sliding_attention"' '"theta": 10000,' \
    '"inv_freq": [0.125, '
# (1 + 0.1 ln 40)^2; the key is the rotated slice alone
says deepseek-v3 '"softmax_factor": 1.87385420709' '"k_head_dim": 64' '"rotary_offset": 128' \
    '"pairing_out": "half"'
# 1 + 0.1 ln 32
says gpt-oss-20b '"attention_factor": 1.3465735902799' '"theta": 150000'
# sqrt(1 + ln 32 / ln 4096)
says phi-3-vision '"scheme": "longrope"' '"attention_factor": 1.19023807142' '"is_long": false'
says glm-4-9b '"rotary_dim": 64' '"pairing": "interleaved"'
says smollm3-3b '"layers": [0, 0, 0, null, 0, 0, 0, null'
"$rope" config phi-3-vision --length 4097 >said
contains said '"is_long": true'
cat >still.json <<EOF
{"model_type": "falcon", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2, "alibi": true}
EOF
says still.json '"rotations": []' '"layers": [null, null]' 'this model has no rotation'
refused 'this model has no rotation' apply --q q.npy --q-out out.npy --positions 0 --config still.json
"$rope" inspect -o page.html still.json >said
for model in qwen2-vl-7b gemma-3-4b deepseek-v3 gpt-oss-20b phi-3-vision glm-4-9b smollm3-3b; do
    "$rope" inspect -o page.html $model >said || fail "inspect $model"
    contains said "$model"
    contains page.html "</html>"
done

# ---- --config beside other options, layers, and files that are none ----
echo '{"model_type": "llama", "head_dim": 8, "num_hidden_layers": 2}' >config.json
for option in '--rotary-dim 8' '--rotary-offset 2' '--k-rotary-offset 2' '--theta 7' '--scaling linear' \
    '--factor 2' '--inv-freq one.npy' '--attention-factor 2' '--angle f32' '--pairing interleaved'; do
    # shellcheck disable=SC2086
    refused 'none of which may be given beside it' apply --q q.npy --q-out out.npy --positions 0 \
        --config config.json $option
done
refused 'none of which may be given beside it' table --positions 0:2 --config config.json --head-dim 8 out.npy
refused 'no such layer' apply --q q.npy --q-out out.npy --positions 0 --config config.json --layer 2
refused 'this layer has no rotation' apply --q q.npy --q-out out.npy --positions 0 --config smollm3-3b --layer 3
refused 'heads of 8 elements' apply --q q.npy --q-out out.npy --positions 0 --config llama-3.1-8b
echo '[]' >list.json
echo '{"model_type": "llama", "head_dim": 8, "rope_scaling": {"rope_type": "unheard"}}' >unheard.json
echo '{"model_type": "llama", "head_dim": 7}' >odd.json
refused 'list.json' config list.json
refused 'unheard' config unheard.json
refused 'odd.json' config odd.json
refused 'missing.json' config missing.json
refused '--from, --to: one must be half' permute a b --config config.json --from half --to half
refused 'an input and an output are required' permute a --config config.json --from half --to interleaved
