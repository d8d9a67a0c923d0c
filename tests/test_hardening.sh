#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_hardening.sh READELF OBJDUMP NM FILE...
# What is shipped is hardened: relocations are read-only before the first call, no stack and no code is
# writable and executable at once, checked variants of libc's functions are called, and on x86-64 every
# exported function may be the target of a jump and large frames touch every page that they pass.
set -eu
readelf=$1 objdump=$2 nm=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# need FILE WHAT PATTERN INPUT: a line of it matches; refuse: none does
need()
{
    grep -qE "$3" "$work/$4" || {
        echo "$1: $2"
        status=1
    }
}
refuse()
{
    ! grep -E "$3" "$work/$4" || {
        echo "$1: $2"
        status=1
    }
}

for file; do
    "$readelf" -lW "$file" >"$work/segments"
    "$readelf" -dW "$file" >"$work/dynamic"
    "$readelf" -nW "$file" >"$work/notes" 2>/dev/null
    "$nm" -D --undefined-only "$file" >"$work/calls"
    need "$file" "no RELRO" '^ *GNU_RELRO ' segments
    need "$file" "symbols are bound late" 'BIND_NOW|\(FLAGS_1\).* NOW' dynamic
    need "$file" "says nothing of its stack" '^ *GNU_STACK ' segments
    refuse "$file" "an executable stack" '^ *GNU_STACK .* RWE ' segments
    refuse "$file" "memory that is writable and executable" '^ *LOAD .* RWE ' segments
    refuse "$file" "relocations in the code" '\(TEXTREL\)' dynamic
    need "$file" "not fortified" '__[a-z]*printf_chk' calls
    "$readelf" -hW "$file" | grep -q 'Machine: .*X86-64' || continue
    need "$file" "no mark for shadow stacks" 'x86 feature: .*SHSTK' notes
    "$objdump" -d --no-show-raw-insn "$file" >"$work/code"
    # shellcheck disable=SC2016
    need "$file" "large frames do not touch their pages" '(or|mov)[ql][[:space:]]+\$(0x)?0, ?\(%[re]sp\)' code
    # "<name>:" and the instruction behind it, for every exported function
    "$nm" -D --defined-only "$file" | sed -n 's/^\([0-9a-f]*\) T .*/\1/p' >"$work/exported"
    awk 'NR == FNR { exported[$1]; next }
        $2 ~ /^<.*>:$/ && $1 in exported { name = $2; next }
        name != "" { if ($2 != "endbr64") print name; name = "" }' "$work/exported" "$work/code" >"$work/open"
    [ ! -s "$work/open" ] || {
        echo "$file: no endbr64 at the start of"
        head -n 5 "$work/open"
        status=1
    }
done
exit $status
