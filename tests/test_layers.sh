#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_layers.sh SOURCE_DIRECTORY
# What the compiler cannot check: intrinsics and SLEEF are named in the vec_*.h headers only, includes
# point down the layers only, and the public headers need nothing but two headers of the language.
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# refuse WHAT: every line of standard input is a finding.
refuse()
{
    sed "s|^|$1: |" >>"$work/findings"
}

# includes DIRECTORY [SUBDIRECTORY LEFT OUT]...: file:line:header for every include of a file of ours
includes()
{
    directory=$1
    shift
    grep -rnE '^ *# *include *"' "$directory" --include='*.[ch]' ${1+--exclude-dir="$1"} \
        ${2+--exclude-dir="$2"} | sed 's/ *# *include *"\([^"]*\)".*/\1/' >"$work/includes"
    # A check that looks at nothing would pass as well.
    [ -s "$work/includes" ] || echo "$directory: no include found" >>"$work/findings"
    cat "$work/includes"
}

# unless_in DIRECTORY [HEADER]...: the includes but for headers in DIRECTORY and those named
unless_in()
{
    directory=$1
    shift
    while IFS= read -r line; do
        header=${line##*:}
        case " $* " in
        *" $header "*) continue ;;
        esac
        case $header in
        */*) printf '%s\n' "$line" ;;
        *) [ -e "$directory/$header" ] || printf '%s\n' "$line" ;;
        esac
    done
}

grep -rnE 'immintrin|x86intrin|arm_neon|sleef\.h|Sleef_|\b_mm[0-9]*_|\b__m(128|256|512)|\bv(ld|st)[1-4]q?_' \
    include src kernels | grep -v '^kernels/vec_[a-z0-9]*\.h:' |
    refuse "an intrinsic or a SLEEF name outside kernels/vec_*.h"
grep -nE '^ *# *include' include/rope/*.h | grep -vE '(<(stddef|stdint)\.h>|"rope\.h"|"rope/rope\.h")$' |
    refuse "a public header includes more than stddef.h, stdint.h and rope.h"
includes kernels | unless_in kernels | refuse "kernels/ includes something outside kernels/"
includes src tool config | unless_in src kernels.h rope/rope.h |
    refuse "src/ includes something besides its own headers, kernels.h and rope/rope.h"
for directory in src/tool src/config; do
    includes $directory | unless_in $directory rope/rope.h rope/rope_config.h |
        refuse "$directory/ includes something besides its own headers and the public ones"
done

[ ! -s "$work/findings" ] || {
    cat "$work/findings"
    exit 1
}
