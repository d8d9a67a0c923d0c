#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_config_tool.sh TOOL
# rope config, and --config of the other commands: JSON and GGUF files, layers, heads of MLA, refusals.
set -eu
files=$(cd "$(dirname "$0")/config" && pwd)
# shellcheck source=tests/tool.sh
. "$(dirname "$0")/tool.sh"

# refuse PATTERN COMMAND...: exit code 2, the pattern in one line on standard error, nothing on standard output
refuse()
{
    pattern=$1
    shift
    status=0
    "$@" >out 2>err || status=$?
    [ $status = 2 ] || fail "exit code $status, not 2: $*"
    contains err "$pattern"
    [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "not one line of error alone: $*"
}

# ---- JSON -----------------------------------------------------------------------------------------

cat >llama.json <<'JSON'
{"model_type": "llama", "hidden_size": 2048, "num_attention_heads": 32, "num_hidden_layers": 3, "rope_theta": 500000,
 "rope_scaling": {"rope_type": "llama3", "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4,
                  "original_max_position_embeddings": 8192, "tempo\"\\": 1}}
JSON
"$rope" config llama.json >llama
# pair 18 as in public fault SF08
contains llama '"scheme": "llama3"' '"head_dim": 64' '"pairing": "half"' '"layers": [0, 0, 0]' '1.946163818483112' \
    '"rounding": "eager"' 'unknown key rope_scaling.tempo\"\\: ignored'

cat >local.json <<'JSON'
{"model_type": "gemma3_text", "num_hidden_layers": 7, "rope_scaling": {"rope_type": "linear", "factor": 8}}
JSON
"$rope" config local.json >local
contains local '"layers": [1, 1, 1, 1, 1, 0, 1]' '"layer_type": "sliding_attention"' \
    'default: head_dim: missing: 256 of the class taken'

cat >dynamic.json <<'JSON'
{"head_dim": 64, "rope_theta": 10000, "max_position_embeddings": 2048, "rope_scaling": {"type": "dynamic", "factor": 2}}
JSON
"$rope" config --length 3000 dynamic.json >dynamic
contains dynamic '"theta": 19710.43645631' '"angle": "exact"'
"$rope" config --profile vllm dynamic.json >dynamic
contains dynamic '"theta": 31082.2366671688' '"angle": "f32"'

# the published file of Llama 3.1 8B; pairs 29 and 34 are blended by 1.2074839 and 5.2573266
"$rope" config "$files/llama-3.1-8b.json" >llama
contains llama '"head_dim": 128' '"theta": 500000' '0.0021665707' '0.00017850781' '"warnings": []'

# ---- The same rows as without a configuration -----------------------------------------------------

echo '{"head_dim": 64, "rope_theta": 500000}' >plain.json
"$rope" table --positions 5:4 --config plain.json a.npy
"$rope" table --positions 5:4 --head-dim 64 --theta 500000 b.npy
cmp a.npy b.npy
"$rope" table --positions 5:4 --config plain.json --profile transformers a.npy
"$rope" table --positions 5:4 --head-dim 64 --theta 500000 --angle f32 b.npy
cmp a.npy b.npy
"$rope" table --positions 5:4 --config local.json --layer 0 a.npy
"$rope" table --positions 5:4 --head-dim 256 b.npy
cmp a.npy b.npy
"$rope" table --positions 5:4 --config local.json --layer 5 a.npy
"$rope" table --positions 5:4 --head-dim 256 --theta 1000000 --scaling linear --factor 8 b.npy
cmp a.npy b.npy
# one position for all three axes is the rotation of one axis
echo '{"head_dim": 64, "rope_theta": 500000, "rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}}' >axes.json
"$rope" table --positions 5:4 --config axes.json a.npy
"$rope" table --positions 5:4 --head-dim 64 --theta 500000 b.npy
cmp a.npy b.npy

# MLA: queries [2 tokens, 3 heads, 48] rotate their last 16 elements, keys are these 16; the result is half-split
echo '{"model_type": "deepseek_v3", "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "num_hidden_layers": 2}' >mla.json
"$rope" table --positions 0:3 --layout dup-half --rotary-dim 48 q.npy
"$rope" table --positions 0:1 --layout dup-half --rotary-dim 16 k.npy
"$rope" apply --q q.npy --q-out q1.npy --k k.npy --k-out k1.npy --positions 7 --config mla.json
"$rope" apply --q q.npy --q-out q2.npy --k k.npy --k-out k2.npy --positions 7 --rotary-dim 16 \
    --rotary-offset 32 --k-rotary-offset 0 --pairing interleaved --out-pairing half
cmp q1.npy q2.npy
cmp k1.npy k2.npy

# ---- GGUF -----------------------------------------------------------------------------------------

text()
{
    little 8 ${#1}
    printf %s "$1"
}
# key NAME TYPE
key()
{
    text "$1"
    little 4 "$2"
}
gguf()
{
    printf GGUF
    little 4 3
    little 8 2 # tensors
    little 8 7 # keys
    key general.architecture 8
    text llama
    key tokenizer.ggml.tokens 9
    little 4 8
    little 8 2
    text a
    text bc
    key llama.attention.key_length 4
    little 4 8
    key llama.rope.freq_base 6
    little 4 $((0x461C4000)) # 10000
    key llama.block_count 10
    little 8 2
    key general.alignment 4
    little 4 64
    key llama.attention.head_count 9 # a list
    little 4 5
    little 8 2
    little 4 4
    little 4 4
    text token_embd.weight
    little 4 2
    little 8 4
    little 8 2
    little 4 1 # f16
    little 8 0
    text rope_freqs.weight
    little 4 1
    little 8 4
    little 4 0 # f32
    little 8 64
}
gguf >model.gguf
while [ $(($(wc -c <model.gguf) % 64)) != 0 ]; do printf '\0' >>model.gguf; done
little 8 0 >>model.gguf # the other tensor, filled up to 64 bytes
while [ $(($(wc -c <model.gguf) % 64)) != 0 ]; do printf '\0' >>model.gguf; done
for _ in 1 2 3; do little 4 $((0x40000000)); done >>model.gguf # divisors 2, 2, 2, infinity
little 4 $((0x7F800000)) >>model.gguf
"$rope" config model.gguf >model
contains model '"pairing": "interleaved"' '"head_dim": 8' '"layers": [0, 0]' '"model_type": "llama"'
# 10000^(-i / 4) / 2; pair 3 stands still
sed -n 's/.*"inv_freq": \[0.5, 0.05[0-9]*, 0.005[0-9]*, 0\]/found/p' model | grep -q found || fail "$(cat model)"
"$rope" table --positions 5:4 --config model.gguf a.npy

size=$(wc -c <model.gguf)
for cut in 4 8 15 23 30 100 $((size - 1)); do
    head -c "$cut" model.gguf >short.gguf
    refuse "ends within its metadata" "$rope" config short.gguf
done
{ printf GGUF; little 4 9; little 8 0; little 8 0; } >version.gguf
refuse "version 9" "$rope" config version.gguf
{ printf GGUF; little 4 3; little 8 0; little 8 99999999; } >keys.gguf
refuse "more than 65536 keys" "$rope" config keys.gguf
{ printf GGUF; little 4 3; little 8 0; little 8 1; little 8 99999999; } >long.gguf
refuse "longer than 65535 bytes" "$rope" config long.gguf
{ printf GGUF; little 4 3; little 8 0; little 8 1; key a 77; } >type.gguf
refuse "unknown type" "$rope" config type.gguf

# ---- Refusals -------------------------------------------------------------------------------------

refuse "exactly one" "$rope" config
refuse "exactly one" "$rope" config llama.json local.json
refuse "No such file" "$rope" config nothing.json
refuse "must be one of exact transformers vllm ggml" "$rope" config --profile torch llama.json
echo '{"head_dim": 64, "rope_scaling": {"rope_type": "lama3"}}' >scheme.json
refuse "scheme.json: rope_scaling.rope_type: lama3: no known scheme" "$rope" config scheme.json
printf '{"head_dim": 64' >syntax.json
refuse "line 1, column 16" "$rope" config syntax.json
: >empty.json
refuse "empty.json" "$rope" config empty.json
refuse "--layer: is required" "$rope" table --positions 0:1 --config local.json a.npy
refuse "no such layer" "$rope" table --positions 0:1 --config local.json --layer 7 a.npy
echo '{"model_type": "smollm3", "num_hidden_layers": 4}' >nope.json
refuse "no rotation" "$rope" table --positions 0:1 --config nope.json --layer 3 a.npy
refuse "none of which may be given beside it" "$rope" table --positions 0:1 --config plain.json --theta 5 a.npy
refuse "go with --config" "$rope" table --positions 0:1 --head-dim 64 --layer 5 a.npy
refuse "heads of 48 elements: plain.json says 64" "$rope" apply --q q.npy --q-out q1.npy --config plain.json
