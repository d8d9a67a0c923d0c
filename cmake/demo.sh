#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the library and runs cmake/demo.c: reads Llama-3.1-8B's config.json, rotates Q and K,
# its speed beside the memory's and its largest error.  Fails if the error exceeds the stated bound.
# Then writes pages about the rotations of three models into the build directory.
#
#   ROPE_BUILD_DIR   where to build (build/demo)
set -eu
cd "$(dirname "$0")/.."
. cmake/packages.sh

build=${ROPE_BUILD_DIR:-build/demo}
rope_need gcc libc6-dev cmake make pkg-config libsleef-dev libjansson-dev
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release
cmake --build "$build" --target demo rope_tool --parallel "$(nproc)"
echo
"$build/demo" tests/config/llama-3.1-8b.json
echo
for model in llama-3.1-8b qwen2-vl-7b deepseek-v3; do
    "$build/rope" inspect -o "$build/$model.html" "$model" >"$build/$model.txt"
    echo "rotations of $model: $build/$model.html"
done
