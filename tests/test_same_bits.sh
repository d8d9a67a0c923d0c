#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_same_bits.sh TOOL [AARCH64_TOOL [I386_TOOL]]
# The tool gives the same files on this CPU with every set that it has, on an emulated x86-64 CPU without
# AVX, and in its aarch64 build with every set of that; in the build for 32-bit x86.
set -eu
tool=$1 aarch64_tool=${2-} i386_tool=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# produce LABEL COMMAND...: rows of every type but f64 (whose last bit needs FMA), and rotated data
produce()
{
    label=$1
    shift
    mkdir "$work/$label"
    cd "$work/$label"
    for type in f32 f16 bf16; do
        "$@" table --positions 0:200 --rotary-dim 96 --theta 500000 --dtype $type \
            --layout separate rows.$type.npy
        "$@" table --positions 2147483447:200 --rotary-dim 96 --dtype $type far.$type.npy
        bf16=''
        [ $type != bf16 ] || bf16=--bf16
        # Two tokens of 200 heads of 48 elements.
        for pairing in half interleaved; do
            # shellcheck disable=SC2086
            "$@" apply --q rows.$type.npy --q-out $pairing.$type.npy $bf16 --pairing $pairing \
                --positions 131070 --rotary-dim 44
            # shellcheck disable=SC2086
            "$@" apply --q rows.$type.npy --q-out $pairing.eager.$type.npy $bf16 \
                --pairing $pairing --arith eager --positions -9 --angle f32
        done
    done 2>"$work/messages" >&2 || {
        cat "$work/messages"
        echo "$label: the tool failed"
        exit 1
    }
    cd "$work"
    if [ "$label" != "$first" ]; then
        diff -r "$first" "$label" || {
            echo "$label gives other bits than $first"
            exit 1
        }
    fi
    echo "$label: $(find "$label" -type f | wc -l) files"
}

# sets COMMAND...: those that can run there
sets()
{
    "$@" info | sed -n 's/^available *//p'
}

first=native.scalar
for name in $(sets "$tool"); do
    produce "native.$name" env "ROPE_ISA=$name" "$tool"
done
if [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64 >/dev/null; then
    produce nehalem qemu-x86_64 -cpu Nehalem "$tool"
fi
if [ -n "$aarch64_tool" ]; then
    for name in $(sets qemu-aarch64 "$aarch64_tool"); do
        produce "aarch64.$name" qemu-aarch64 -E "ROPE_ISA=$name" "$aarch64_tool"
    done
fi
if [ -n "$i386_tool" ]; then
    produce i386 "$i386_tool"
fi
