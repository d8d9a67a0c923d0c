#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_exports.sh NM LIBRARY MAP HEADER
# MAP lists its symbols one by one; LIBRARY exports these, with these versions, and nothing else; HEADER
# declares these and nothing else, and says of each "Since" the version of its node.
set -eu
nm=$1 library=$2 map=$3 header=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The map as lines "symbol@@NODE" and "NODE".  Words are { } NODE global: local: symbol and *, the name
# behind a closing brace is the node that this one follows.
sed 's|/\*.*\*/||; s/#.*//; s/[{}]/ & /g' "$map" | tr -s ' \t;' '\n\n\n' | awk '
    $1 == "" { next }
    $1 == "{" { inside = 1; next }
    $1 == "}" { inside = 0; listed = 0; closed = 1; next }
    !inside && closed && $1 in nodes { closed = 0; next }
    !inside { node = $1; nodes[node] = 1; closed = 0; print node; next }
    $1 == "global:" { listed = 1; next }
    $1 == "local:" { listed = 0; next }
    listed { print $1 "@@" node }
    !listed && $1 != "*" { print "neither global nor *: " $1 }
' | sort >"$work/map"
if grep -v '^[A-Z][A-Z0-9_.]*$' "$work/map" | grep -v '^[a-z][a-z0-9_]*@@[A-Z][A-Z0-9_.]*$'; then
    echo "$map has more than plain names (above)"
    exit 1
fi
[ "$(grep -c @@ "$work/map")" -gt 0 ] || {
    echo "no symbol found in $map"
    exit 1
}

# The node itself is NODE to GNU nm, NODE@@NODE to that of LLVM.
"$nm" -D --defined-only "$library" | awk '{
    split($3, part, "@@")
    print part[1] == part[2] ? part[1] : $3
}' | sort >"$work/library"
diff -u "$work/map" "$work/library" || {
    echo "$library does not export what $map lists"
    exit 1
}

# Every declaration with the version of the comment before it; one comment may serve several.
awk '
    /\/\*/ { since = "never" }
    match($0, /Since [0-9]+\.[0-9]+/) { since = substr($0, RSTART + 6, RLENGTH - 6) }
    /^ROPE_API / { text = "" ; open = 1 }
    open { text = text $0 }
    open && /;/ {
        sub(/\(.*/, "", text)
        sub(/.*[ *]/, "", text)
        print text, since
        open = 0
    }
' "$header" | sort >"$work/header"
sed -n 's/@@.*_\([0-9][0-9.]*\)$/ \1/p' "$work/map" | sort | diff -u - "$work/header" || {
    echo "$header does not declare what $map lists, with \"Since\" its version"
    exit 1
}
