#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_set.sh SET HAS_SET PROGRAM [ARGUMENT...]
# Runs PROGRAM with ROPE_ISA=SET, or says that this CPU has not got the set and exits with 77.
# $ROPE_TEST_EMULATOR is a command line put before both programs.
set -eu
set_name=$1 has_set=$2
shift 2

[ -x "$has_set" ] && [ -x "$1" ] || {
    echo "$has_set or $1 was not built"
    exit 1
}
# The emulator's command line is split into words on purpose.
# shellcheck disable=SC2086
if ! ${ROPE_TEST_EMULATOR-} "$has_set" "$set_name"; then
    echo "skipped: this CPU cannot run the set $set_name"
    exit 77
fi
export ROPE_ISA="$set_name"
# shellcheck disable=SC2086
exec ${ROPE_TEST_EMULATOR-} "$@"
