#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_exports.sh NM LIBRARY MAP
# The dynamic symbols that LIBRARY defines are exactly those that MAP lists as global, with their versions.
set -eu
nm=$1 library=$2 map=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Comments go, then every "name;" of a global part becomes name@@NODE.
sed 's|/\*.*\*/||; s/#.*//' "$map" | tr -s ' \t;' '\n\n\n' | awk '
    /^[A-Z][A-Z0-9_.]*$/ { node = $1; nodes++; print node; next }
    /^global:$/ { listed = 1; next }
    /^local:$/ { listed = 0; next }
    /^}/ { listed = 0; next }
    listed && /^[a-zA-Z_]/ { print $1 "@@" node }
    listed && /[*?]/ { print "wildcard"; }
' | sort >"$work/map"
# The node itself is NODE to GNU nm, NODE@@NODE to that of LLVM.
"$nm" -D --defined-only "$library" | awk '{
    split($3, part, "@@")
    print part[1] == part[2] ? part[1] : $3
}' | sort >"$work/library"

if grep -q wildcard "$work/map"; then
    echo "the map exports a wildcard"
    exit 1
fi
[ "$(grep -c @@ "$work/map")" -gt 0 ] || {
    echo "no symbol found in $map"
    exit 1
}
diff -u "$work/map" "$work/library" || {
    echo "$library does not export what $map lists"
    exit 1
}
