#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_readme.sh SOURCE_DIRECTORY COMPILER LIBRARY [SANITIZERS]
# Compiles the C example of README.md as it stands there and compares what it prints with what README
# says that it prints: the first ```text block behind it.
set -eu
source=$1 compiler=$2 library=$3 sanitizers=${4-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# block LANGUAGE: the first fenced block of that language
block()
{
    awk -v fence="\`\`\`$1" '
        $0 == "```" { inside = 0; if (seen) exit }
        inside { print }
        $0 == fence { inside = seen = 1 }' "$source/README.md"
}
block c >"$work/example.c"
block text >"$work/expected"
[ -s "$work/example.c" ] && [ -s "$work/expected" ] || {
    echo "README.md has no example or no output"
    exit 1
}
directory=$(dirname "$library")
"$compiler" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
    ${sanitizers:+-fsanitize="$sanitizers"} -I"$source/include" "$work/example.c" \
    -L"$directory" -Wl,-rpath,"$directory" -lrope -o "$work/example"
"$work/example" >"$work/printed"
diff -u "$work/expected" "$work/printed" || {
    echo "README.md promises another output"
    exit 1
}
