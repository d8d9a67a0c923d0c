#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_check.sh ROPE BROKEN
# `rope check` passes with the library, and with the broken one in the directory BROKEN it names what is
# broken.
set -eu
broken=$2
. "$(dirname "$0")/tool.sh"
unset ROPE_ISA

"$rope" check >out || fail "rope check: exit code $?: $(cat out)"
grep -qx 'result     equal to the bit' out || fail "rope check says: $(cat out)"
status=0
ROPE_ISA=mmx "$rope" check >out 2>err || status=$?
[ $status -eq 2 ] && [ ! -s out ] || fail "ROPE_ISA=mmx rope check: exit code $status: $(cat out)"
contains err "rope: ROPE_ISA: must name a set"

active=$("$rope" info | sed -n 's/^active *//p')
[ "$active" != scalar ] || {
    echo "skipped: this CPU has no set beside scalar that could be broken"
    exit 77
}
status=0
LD_LIBRARY_PATH=$broken "$rope" check >out 2>err || status=$?
[ $status -eq 1 ] && [ ! -s err ] || fail "the broken library: exit code $status: $(cat out err)"
[ "$(sed -n 's/^active  *//p; s/^result  *//p' out)" = "$active
1 differ:" ] || fail "the broken library: $(cat out)"
[ "$(tail -n 1 out | sed 's/: .*//')" = "$active rotate half, fused, f32" ] ||
    fail "the broken library: $(cat out)"
ROPE_ISA=scalar LD_LIBRARY_PATH=$broken "$rope" check >out || fail "scalar is not broken: $(cat out)"
