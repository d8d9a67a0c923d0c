#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_constants.sh SOURCE_DIRECTORY COMPILER
# Every constant of the headers of 0.1 has its number still; abidiff does not see them.
set -eu
source=$1 compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Names of enumerators: of "enum { A = 1, B }" on one line or several.
names=$(cat "$source/tests/abi/0.1/rope/rope.h" "$source/tests/abi/0.1/rope/rope_config.h" |
    sed 's|/\*.*\*/||' | sed -n '/^enum/,/}/p' | grep -o 'ROPE_[A-Z0-9_]* *=' | tr -d ' =' | sort -u)
{
    cat <<'END'
#include "rope/rope_config.h"
#include <stdio.h>
#define PRINT(name) printf("%s %ld\n", #name, (long)name);
int main(void)
{
END
    for name in $names; do
        echo "PRINT($name)"
    done
    echo 'return 0; }'
} >"$work/constants.c"
"$compiler" -I"$source/tests/abi/0.1" "$work/constants.c" -o "$work/old"
"$compiler" -I"$source/include" "$work/constants.c" -o "$work/new"
"$work/old" >"$work/old.txt"
"$work/new" >"$work/new.txt"
[ "$(wc -l <"$work/old.txt")" -gt 80 ] || {
    echo "only $(wc -l <"$work/old.txt") constants found"
    exit 1
}
diff -u "$work/old.txt" "$work/new.txt"
