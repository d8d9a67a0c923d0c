#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_version.sh SOURCE_DIRECTORY LIBRARY [TOOL]
# The version of the header is that of the file, of the tool and of the newest entry of the changelog, and
# its first number is that of the SONAME.
set -eu
source=$1 library=$2 tool=${3-}
number()
{
    sed -n "s/^#define ROPE_VERSION_$1 \([0-9]*\)\$/\1/p" "$source/include/rope/rope.h"
}
major=$(number MAJOR)
version=$major.$(number MINOR).$(number PATCH)
status=0

# expect WHAT FOUND WANTED
expect()
{
    [ "$2" = "$3" ] || {
        echo "$1: $2, not $3"
        status=1
    }
}

expect "version of the header" "$(echo "$version" | grep -x '[0-9]*\.[0-9]*\.[0-9]*')" "$version"
expect "newest entry of CHANGELOG.md" \
    "$(sed -n 's/^## \[\([0-9.]*\)\].*/\1/p' "$source/CHANGELOG.md" | head -n 1)" "$version"
expect "file of the library" "$(basename "$(readlink -f "$library")")" "librope.so.$version"
expect "SONAME" "$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')" "librope.so.$major"
[ -z "$tool" ] || expect "rope --version" "$("$tool" --version)" "rope $version"
exit $status
