#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_permute.sh TOOL
# rope permute: rows of tiny checkpoints whose rows are numbered, so that the expected bytes are known without
# the program; sharded checkpoints; refusals of bad files; what a full disk and a kill leave behind.
set -eu
# shellcheck source=tests/tool.sh
. "$(dirname "$0")/tool.sh"

# rows BYTES-OF-AN-ELEMENT COLUMNS NUMBER...: a row for each number: all elements are that number
rows()
{
    element=$1
    columns=$2
    shift 2
    for row; do
        for _ in $(seq "$columns"); do
            little "$element" "$row"
        done
    done
}

# file NAME HEADER: a safetensors file with the data on standard input
file()
{
    {
        little 8 ${#2}
        printf %s "$2"
        cat
    } >"$1"
}

# data FILE: what is behind the header
data()
{
    length=$(od -An -tu1 -N2 "$1" | awk '{ print $1 + 256 * $2 }')
    tail -c +$((length + 9)) "$1"
}

# permuted IN OUT FROM TO CONFIG: runs the program; the header must be the same bytes
permuted()
{
    "$rope" permute "$1" "$2" --from "$3" --to "$4" --config "$5" >out 2>err || fail "permute $1: $(cat err)"
    [ ! -s err ] || fail "permute $1: $(cat err)"
    length=$(od -An -tu1 -N2 "$1" | awk '{ print $1 + 256 * $2 }')
    cmp -n $((length + 8)) "$1" "$2" || fail "$1: the header has changed"
}

# expect FILE: its data are those on standard input
expect()
{
    cat >wanted
    data "$1" >got
    cmp got wanted || fail "$1: wrong rows: $(od -An -tu2 -v got | tr '\n' ' ')"
}

# back IN OUT FROM TO CONFIG: the other way gives the original bytes
back()
{
    permuted "$2" again "$4" "$3" "$5"
    cmp "$1" again || fail "$1: not the same after two permutations"
}

# refuse PATTERN ARGUMENT...: exit code 2, the pattern in one line of error, no file made or changed
refuse()
{
    pattern=$1
    shift
    before=$(ls -A)
    status=0
    "$rope" permute "$@" >../out 2>../err || status=$?
    [ $status = 2 ] || fail "exit code $status, not 2: permute $*"
    case $(cat ../err) in
    "rope: "*"$pattern"*) ;;
    *) fail "'$(cat ../err)' does not say '$pattern'" ;;
    esac
    [ "$(wc -l <../err)" -eq 1 ] || fail "more than one line: $(cat ../err)"
    [ "$(ls -A)" = "$before" ] || fail "files have changed: $before: $(ls -A)"
}

# ---- Heads, GQA, biases, norms, other tensors ----------------------------------------------------

# 2 query heads of 8 and 1 key head; rows 2 i -> i, 2 i + 1 -> i + 4 of every head
echo '{"model_type": "llama", "head_dim": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1}' >llama.json
p=model.layers.0.self_attn
for type in F32:4 F16:2 BF16:2 F64:8; do
    bytes=${type#*:}
    name=${type%:*}
    # weights of 3 columns: q [16, 3], k [8, 3], v [8, 3]; bias of q; an embedding of one byte
    q=$((16 * 3 * bytes)) k=$((8 * 3 * bytes))
    header="{ \"__metadata__\":{\"format\":\"pt\"},\"$p.v_proj.weight\":{\"dtype\":\"$name\",\"shape\":[8,3],\"data_offsets\":[$((q + k)),$((q + 2 * k))]},
\"$p.q_proj.weight\":{\"shape\":[16,3],\"data_offsets\":[0,$q],\"dtype\":\"$name\"},
\"$p.q_proj.bias\":{\"dtype\":\"$name\",\"shape\":[16],\"data_offsets\":[$((q + 2 * k)),$((q + 2 * k + 16 * bytes))]},
\"$p.k_proj.weight\":{\"dtype\":\"$name\",\"shape\":[8,3],\"data_offsets\":[$q,$((q + k))]},
\"byte\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[$((q + 2 * k + 16 * bytes)),$((q + 2 * k + 16 * bytes + 1))]}}   "
    # shellcheck disable=SC2046
    {
        rows "$bytes" 3 $(seq 0 15) $(seq 20 27) $(seq 30 37)
        rows "$bytes" 1 $(seq 100 115)
        printf x
    } | file "$name.safetensors" "$header"
    permuted "$name.safetensors" "$name.out" interleaved half llama.json
    grep -q '^2 query and 1 key tensors permuted, of 5$' out || fail "$(cat out)"
    # shellcheck disable=SC2046
    {
        rows "$bytes" 3 0 2 4 6 1 3 5 7 8 10 12 14 9 11 13 15 20 22 24 26 21 23 25 27 $(seq 30 37)
        rows "$bytes" 1 100 102 104 106 101 103 105 107 108 110 112 114 109 111 113 115
        printf x
    } | expect "$name.out"
    back "$name.safetensors" "$name.out" interleaved half llama.json
done
# over itself
cp F16.safetensors self
permuted self self interleaved half llama.json 2>err || fail "over itself: $(cat err)"
cmp self F16.out || fail "over itself: other bytes"

# the names of Meta's files; half to interleaved: row i -> 2 i, row i + 2 -> 2 i + 1
echo '{"model_type": "llama", "head_dim": 4, "num_attention_heads": 1, "num_hidden_layers": 1}' >small.json
for names in layers.0.attention.wq:layers.0.attention.wk \
    transformer.h.0.attn.q_proj:transformer.h.0.attn.k_proj \
    roformer.encoder.layer.0.attention.self.query:roformer.encoder.layer.0.attention.self.key \
    base_model.model.model.layers.0.self_attn.q_proj.lora_B:base_model.model.model.layers.0.self_attn.k_proj.lora_B; do
    rows 2 1 10 11 12 13 20 21 22 23 | file names "{\"${names%:*}.weight\":{\"dtype\":\"BF16\",\"shape\":[4,1],\
\"data_offsets\":[0,8]},\"${names#*:}.weight\":{\"dtype\":\"BF16\",\"shape\":[4,1],\"data_offsets\":[8,16]}}"
    permuted names names.out half interleaved small.json
    rows 2 1 10 12 11 13 20 22 21 23 | expect names.out
done

# partial rotation, 4 of 6, and the normalisations of heads
echo '{"model_type": "qwen3", "head_dim": 6, "partial_rotary_factor": 0.6666666666666667, "num_attention_heads": 1, "num_hidden_layers": 1}' >partial.json
rows 2 1 0 1 2 3 4 5 10 11 12 13 14 15 20 21 22 23 24 25 | file partial "{\"$p.q_proj.weight\":{\"dtype\":\"F16\",\"shape\":[6,1],\
\"data_offsets\":[0,12]},\"$p.k_proj.weight\":{\"dtype\":\"F16\",\"shape\":[6,1],\"data_offsets\":[12,24]},\
\"$p.q_norm.weight\":{\"dtype\":\"F16\",\"shape\":[6],\"data_offsets\":[24,36]}}"
permuted partial partial.out interleaved half partial.json
rows 2 1 0 2 1 3 4 5 10 12 11 13 14 15 20 22 21 23 24 25 | expect partial.out

# MLA: 2 heads of 2 + 4 for queries; 3 latent rows before the one key of 4
echo '{"model_type": "deepseek_v3", "qk_nope_head_dim": 2, "qk_rope_head_dim": 4, "num_attention_heads": 2, "num_hidden_layers": 1}' >mla.json
rows 2 1 0 1 2 3 4 5 10 11 12 13 14 15 20 21 22 23 24 25 26 | file mla "{\"$p.q_b_proj.weight\":{\"dtype\":\"BF16\",\"shape\":[12,1],\
\"data_offsets\":[0,24]},\"$p.kv_a_proj_with_mqa.weight\":{\"dtype\":\"BF16\",\"shape\":[7,1],\"data_offsets\":[24,38]}}"
permuted mla mla.out interleaved half mla.json
rows 2 1 0 1 2 4 3 5 10 11 12 14 13 15 20 21 22 23 25 24 26 | expect mla.out
back mla mla.out interleaved half mla.json

# fused: 2 query heads, 1 key head, 1 value head of 4; the same for each of GPT-NeoX's heads
echo '{"model_type": "phi3", "head_dim": 4, "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1}' >phi.json
# shellcheck disable=SC2046
rows 4 2 $(seq 0 15) | file fused "{\"$p.qkv_proj.weight\":{\"dtype\":\"F32\",\"shape\":[16,2],\"data_offsets\":[0,128]}}"
permuted fused fused.out interleaved half phi.json
rows 4 2 0 2 1 3 4 6 5 7 8 10 9 11 12 13 14 15 | expect fused.out
echo '{"model_type": "gpt_neox", "hidden_size": 8, "num_attention_heads": 2, "rotary_pct": 1.0, "num_hidden_layers": 1}' >neox.json
# shellcheck disable=SC2046
rows 4 1 $(seq 0 23) | file neox '{"gpt_neox.layers.0.attention.query_key_value.bias":{"dtype":"F32","shape":[24],"data_offsets":[0,96]}}'
permuted neox neox.out half interleaved neox.json
rows 4 1 0 2 1 3 4 6 5 7 8 9 10 11 12 14 13 15 16 18 17 19 20 21 22 23 | expect neox.out

# a layer without rotation, towers and values stay
echo '{"model_type": "smollm3", "head_dim": 4, "num_attention_heads": 1, "num_hidden_layers": 2, "no_rope_layers": [0, 1]}' >nope.json
rows 2 1 0 1 2 3 4 5 6 7 10 11 12 13 20 21 22 23 30 31 32 33 | file nope "{\"model.layers.0.self_attn.q_proj.weight\":\
{\"dtype\":\"F16\",\"shape\":[4,1],\"data_offsets\":[0,8]},\"model.layers.0.self_attn.k_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1],\
\"data_offsets\":[8,16]},\"model.layers.1.self_attn.q_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1],\"data_offsets\":[16,24]},\
\"model.layers.1.self_attn.k_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1],\"data_offsets\":[24,32]},\
\"vision_tower.layers.1.self_attn.q_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1],\"data_offsets\":[32,40]}}"
permuted nope nope.out half interleaved nope.json
rows 2 1 0 1 2 3 4 5 6 7 10 12 11 13 20 22 21 23 30 31 32 33 | expect nope.out

# ---- Shards --------------------------------------------------------------------------------------

mkdir shards converted
rows 2 1 0 1 2 3 | file shards/a-1.safetensors "{\"$p.q_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1],\"data_offsets\":[0,8]}}"
rows 2 1 4 5 6 7 | file shards/a-2.safetensors "{\"$p.k_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1],\"data_offsets\":[0,8]}}"
index=model.safetensors.index.json
printf '{"metadata": {"total_size": 16}, "weight_map": {"%s.q_proj.weight": "a-1.safetensors", "%s.k_proj.weight": "a-2.safetensors"}}' $p $p >shards/$index
"$rope" permute --from half --to interleaved --config small.json shards/$index converted/$index >out || fail "shards"
rows 2 1 0 2 1 3 | expect converted/a-1.safetensors
rows 2 1 4 6 5 7 | expect converted/a-2.safetensors
cmp shards/$index converted/$index || fail "the index has changed"
[ "$(ls -A converted | wc -l)" -eq 3 ] || fail "files: $(ls -A converted)"

mkdir clean
cd clean
small="--from half --to interleaved --config ../small.json"
# shellcheck disable=SC2086
{
    refuse 'directory: must not be that of' $small ../shards/$index ../shards/other.json
    for name in ../a.safetensors /a.safetensors a .a.safetensors; do
        echo "{\"weight_map\": {\"x\": \"$name\"}}" >../bad.index.json
        refuse 'must be the plain name of a .safetensors file' $small ../bad.index.json out.json
    done
    echo '{"weight_map": {"x": "none.safetensors"}}' >../bad.index.json
    refuse 'none.safetensors: No such file' $small ../bad.index.json out.json
    sed 's/}}$/, "more": "a-2.safetensors"}}/' ../shards/$index >../shards/more.json
    refuse 'weight_map: 3 tensors: the files have 2' $small ../shards/more.json out.json
    for text in '{' '[]' '{"weight_map": 3}' '{"weight_map": {}}' '{}'; do
        echo "$text" >../bad.index.json
        refuse 'bad.index.json: ' $small ../bad.index.json out.json
    done
}

# ---- Bad files -----------------------------------------------------------------------------------

# bad PATTERN HEADER [DATA]
bad()
{
    printf %s "${3-12345678}" | file ../bad "$2"
    # shellcheck disable=SC2086
    refuse "$1" $small ../bad out
}
# shellcheck disable=SC2086
{
    printf '' >../bad
    refuse 'size: 0 bytes' $small ../bad out
    printf '\377\377\377\377\377\377\377\377{}' >../bad
    refuse 'header length: 18446744073709551615' $small ../bad out
    printf '\100\0\0\0\0\0\0\0{}' >../bad
    refuse 'header length: 64' $small ../bad out
    refuse 'is no regular file' $small /dev/zero out
    refuse 'No such file' $small ../none out
    refuse 'no query projection' $small ../shards/a-2.safetensors out
    refuse 'no key projection' $small ../shards/a-1.safetensors out
    refuse 'one must be half' --from half --to half --config ../small.json ../names out
    refuse 'one must be half' --config ../small.json ../names out
    refuse '--config: is required' --from half --to interleaved ../names out
    refuse 'none.json: No such file' --from half --to interleaved --config ../none.json ../names out
    refuse 'special file' $small ../names /dev/full
    refuse 'cannot be written' $small ../names none/out
}
tensor='{"dtype":"F16","shape":[4],"data_offsets":[0,8]}'
bad 'is no JSON' ' {}'
bad 'is no JSON' '{"a":'
bad 'is no JSON' '{"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}}}'
bad 'is no JSON' '{"a":{"dtype":"F16","shape":[-4],"data_offsets":[0,8]}}'
bad 'is no JSON' '{"a":{"dtype":"F16","shape":[4.0],"data_offsets":[0,8]}}'
bad 'is no JSON' '{"a":{"dtype":"F16","shape":[18446744073709551616],"data_offsets":[0,8]}}'
bad 'is no JSON' '{"a":{"dtype":"F16","dtype":"F16","shape":[4],"data_offsets":[0,8]}}'
bad 'is no JSON' '{"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8,9]}}'
bad 'is no JSON' "{\"__metadata__\":$(printf '%0100d' 0 | tr 0 '['),\"a\":$tensor}"
bad 'is no JSON' "{\"a\":$tensor,}"
bad 'tensor a: dtype: F17: is not known' '{"a":{"dtype":"F17","shape":[4],"data_offsets":[0,8]}}'
bad 'tensor a: shape: is missing' '{"a":{"dtype":"F16","data_offsets":[0,8]}}'
bad 'tensor a: shape: 3 elements of F16: must fill the 8 bytes' '{"a":{"dtype":"F16","shape":[3],"data_offsets":[0,8]}}'
bad 'tensor a: shape: over' '{"a":{"dtype":"F16","shape":[4294967296,4294967296,4],"data_offsets":[0,8]}}'
bad 'tensor a: data_offsets: [8, 0]' '{"a":{"dtype":"F16","shape":[4],"data_offsets":[8,0]}}'
bad 'tensor a: data_offsets: [0, 16]' '{"a":{"dtype":"F16","shape":[8],"data_offsets":[0,16]}}'
bad 'tensor b: data_offsets: overlap' "{\"a\":$tensor,\"b\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[4,8]}}"
bad 'tensor a: data_offsets: leave a hole' '{"a":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}}'
bad '4 bytes: belong to no tensor' '{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}'
bad 'name: is there twice' '{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"a":{"dtype":"F16","shape":[2],"data_offsets":[4,8]}}'
bad 'name: must have no escape' "{\"\\u0061\":$tensor}"
bad 'dtype: of a projection' "{\"$p.q_proj.weight\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}"
bad 'shape: 2 rows: must be 1 heads of 4' "{\"$p.q_proj.weight\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"
bad 'shape: of a projection' "{\"$p.q_proj.weight\":{\"dtype\":\"F16\",\"shape\":[4,1,1],\"data_offsets\":[0,8]}}"
bad 'quantized or unknown' "{\"$p.q_proj.qweight\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]}}"
bad 'does not say how queries and keys lie' "{\"$p.query_key_value.weight\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}"

# ---- A full disk and a kill ----------------------------------------------------------------------

cd ..
mkdir disk
cd disk
echo old >out
# a query of 128 MiB and a key as long, all zeros
header="{\"$p.q_proj.weight\":{\"dtype\":\"F32\",\"shape\":[4,8388608],\"data_offsets\":[0,134217728]},\
\"$p.k_proj.weight\":{\"dtype\":\"F32\",\"shape\":[4,134217728],\"data_offsets\":[134217728,2281701376]}}"
printf '' | file ../big "$header"
truncate -s $((8 + ${#header} + 2281701376)) ../big
(
    ulimit -f 2048
    # shellcheck disable=SC2086
    refuse 'cannot be written' $small ../big out
) || exit 1
[ "$(cat out)" = old ] || fail "a full disk has changed the old file"

# stopped SIGNAL: kills the program as soon as its temporary file is there
stopped()
{
    # shellcheck disable=SC2086
    "$rope" permute $small ../big out >/dev/null 2>&1 &
    process=$!
    while [ -z "$(find . -name '.rope-*' -size +1k)" ]; do
        kill -0 $process 2>/dev/null || break
    done
    kill "-$1" $process || fail "it had ended before the kill"
    status=0
    wait $process || status=$?
    [ $status -gt 128 ] || fail "kill -$1: exit code $status"
    [ "$(cat out)" = old ] || fail "kill -$1 has changed the old file"
}
stopped TERM
[ "$(ls -A)" = out ] || fail "left behind: $(ls -A)"
stopped KILL
echo "all as expected"
