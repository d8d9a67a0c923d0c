#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_cpu.sh CPU PROGRAM [ARGUMENT...]
# Runs PROGRAM on an x86-64 CPU that qemu-user emulates, or exits with 77 where qemu is missing.
# An illegal instruction ends the program with status 132.
set -eu
cpu=$1
shift
command -v qemu-x86_64 >/dev/null || {
    echo "skipped: no qemu-x86_64"
    exit 77
}
exec qemu-x86_64 -cpu "$cpu" "$@"
