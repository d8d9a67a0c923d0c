#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds with warnings as errors and runs the whole test suite.
#
# On x86-64 this includes the NEON set, in a cross build run by qemu-user, a CPU without AVX, and the
# AVX-512 set: on the CPU itself, or in an emulated machine where the CPU lacks it.
#
#   ROPE_BUILD_DIR   where to build (build/tests)
#   ROPE_EMULATE     auto, always or never: AVX-512 in the emulated machine (auto: only if needed)
set -eu
cd "$(dirname "$0")/.."
. cmake/packages.sh

build=${ROPE_BUILD_DIR:-build/tests}
jobs=$(nproc)

rope_need gcc g++ libc6-dev cmake make pkg-config libsleef-dev libcmocka-dev libmpfr-dev libjansson-dev
rope_want abigail-tools || echo "The ABI: not compared with the last release, no abigail-tools"

aarch64='' emulate=OFF
if [ "$(uname -m)" = x86_64 ]; then
    if rope_want qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
        libsleef-dev:arm64 libcmocka-dev:arm64 libmpfr-dev:arm64 libjansson-dev:arm64; then
        aarch64=$PWD/$build-aarch64
        case $build in
        /*) aarch64=$build-aarch64 ;;
        esac
    else
        echo "NEON and the CPU without AVX: skipped, their packages cannot be installed"
    fi

    flags=$(sed -n 's/^flags[^:]*: / /p' /proc/cpuinfo | head -n 1)
    native=yes
    for flag in avx512f avx512bw avx512dq avx512vl; do
        case "$flags " in
        *" $flag "*) ;;
        *) native=no ;;
        esac
    done
    case ${ROPE_EMULATE:-auto}-$native in
    never-no) echo "AVX-512: not tested (this CPU lacks it and ROPE_EMULATE is never)" ;;
    auto-yes | never-yes) echo "AVX-512: native" ;;
    *)
        echo "AVX-512: emulated (Bochs)"
        emulate=ON
        sh tests/emulate.sh --prepare || echo "AVX-512: Bochs or its kernel is not to be had"
        ;;
    esac
fi

# configure_and_build DIRECTORY [OPTION...]
configure_and_build()
{
    directory=$1
    shift
    echo "== build in $directory"
    cmake -S . -B "$directory" --no-warn-unused-cli -DCMAKE_BUILD_TYPE=Release -DROPE_BUILD_TESTS=ON \
        -DROPE_WERROR=ON "$@"
    cmake --build "$directory" --parallel "$jobs"
}

if [ -n "$aarch64" ]; then
    configure_and_build "$aarch64" -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake \
        -DROPE_TEST_PREFIX=aarch64.
fi
configure_and_build "$build" -DROPE_EMULATE_AVX512=$emulate "-DROPE_AARCH64_BUILD=$aarch64"

exec ctest --test-dir "$build" --output-on-failure --parallel "$jobs"
