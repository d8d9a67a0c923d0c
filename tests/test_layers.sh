#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_layers.sh SOURCE_DIRECTORY
# What the compiler cannot check: intrinsics and SLEEF are named in the vec_*.h headers only, includes
# point down the layers only, and the public header needs nothing but two headers of the language.
set -eu
cd "$1"
failed=0

# refuse WHAT: fails if standard input has a line.
refuse()
{
    lines=$(cat)
    [ -n "$lines" ] || return 0
    printf '%s:\n%s\n' "$1" "$lines"
    failed=1
}

grep -nE 'immintrin|x86intrin|arm_neon|sleef\.h|Sleef_|\b_mm[0-9]*_|\b__m(128|256|512)|\bv(ld|st)[1-4]q?_' \
    -r include src kernels | grep -v '^kernels/vec_[a-z0-9]*\.h:' |
    refuse "an intrinsic or a SLEEF name outside kernels/vec_*.h"

# includes DIRECTORY: file:line:header for every include of a file of ours
includes()
{
    grep -rnE '^ *# *include *"' "$1" --include='*.[ch]' | sed 's/ *# *include *"\([^"]*\)".*/\1/'
}
grep -nE '^ *# *include' include/rope/rope.h | grep -vE '<(stddef|stdint)\.h>$' |
    refuse "include/rope/rope.h includes more than stddef.h and stdint.h"
includes kernels | while IFS= read -r line; do
    [ -e "kernels/${line##*:}" ] || echo "$line"
done | refuse "kernels/ includes something outside kernels/"
includes src | grep -v '^src/tool/' | while IFS= read -r line; do
    header=${line##*:}
    [ "$header" = kernels.h ] || [ "$header" = rope/rope.h ] || [ -e "src/$header" ] || echo "$line"
done | refuse "src/ includes something besides its own headers, kernels.h and rope/rope.h"
includes src/tool | while IFS= read -r line; do
    header=${line##*:}
    [ "$header" = rope/rope.h ] || [ -e "src/tool/$header" ] || echo "$line"
done | refuse "src/tool/ includes something besides its own headers and rope/rope.h"

# A check that looks at nothing would pass as well.
[ "$(includes src | wc -l)" -gt 0 ] || {
    echo "no include found"
    failed=1
}
exit $failed
