#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The ABI of the shared libraries against the one of the last release, which the files *.abi here record.
#
#   sh cmake/abi/check.sh [LIBRARY...]   status 1 if a program built against that release could break
#   sh cmake/abi/check.sh --renew        at a release: makes the present ABI the recorded one
#
# Without LIBRARY both are built, in build/abi.  A LIBRARY needs debug information.  Needs abigail-tools of
# Debian 12 or later; status 77 where they are missing.  One record serves all 64-bit systems and both
# compilers: it holds the types of the public headers and the exported symbols, nothing else.
set -eu
abi=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$abi/../.." && pwd)

renew=no
if [ "${1-}" = --renew ]; then
    renew=yes
    shift
fi
for tool in abidw abidiff readelf; do
    command -v $tool >/dev/null || {
        echo "skipped: no $tool (packages abigail-tools, binutils)"
        exit 77
    }
done
if [ $# -eq 0 ]; then
    cmake -S "$root" -B "$root/build/abi" -DCMAKE_C_FLAGS=-g -DROPE_BUILD_TOOL=OFF >/dev/null
    cmake --build "$root/build/abi" --parallel --target rope rope_config >/dev/null
    set -- "$root/build/abi/librope.so" "$root/build/abi/librope-config.so"
fi

# Everything that depends on where, with what and from which file the library was built stays out.
record()
{
    abidw --headers-dir "$root/include" --drop-private-types --drop-undefined-syms \
        --exported-interfaces-only --no-architecture --no-comp-dir-path --no-corpus-path --no-show-locs \
        --no-elf-needed --no-parameter-names --no-write-default-sizes --type-id-style hash \
        --out-file "$2.new" "$1"
    sed "s|\( path='\)[^']*/\(src/[^']*'\)|\1\2|; s|LANG_C[0-9]*|LANG_C11|" "$2.new" >"$2"
    rm "$2.new"
}

# Every field of every struct of a record.
fields()
{
    awk -F "'" '
        / name=/ && /<class-decl/ { name = $2 }
        /<data-member/ { offset = $4 }
        /<var-decl/ && offset != "" { print name, offset, $2, $4; offset = "" }
    ' "$1" | sort
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for library; do
    [ "$(readelf -h "$library" | sed -n 's/^ *Class: *//p')" = ELF64 ] || {
        echo "skipped: $library is not 64-bit"
        exit 77
    }
    name=$(basename "$library" | sed 's/\.so.*//')
    if [ $renew = yes ]; then
        record "$library" "$abi/$name.abi"
        continue
    fi
    readelf -S --wide "$library" | grep -q '\.debug_info' || {
        echo "$library has no debug information: nothing is known about its types"
        exit 1
    }
    # New symbols are compatible, and so are new fields where suppressions.ini says so; everything else that
    # is left to report is not.
    abidiff --no-added-syms --no-architecture --suppressions "$abi/suppressions.ini" \
        "$abi/$name.abi" "$library" || {
        echo "$library is not compatible with the last release (abidiff: $?)"
        status=1
    }
    # abidiff takes a field that moved to the end for a new one.
    record "$library" "$work/abi"
    fields "$abi/$name.abi" >"$work/old"
    fields "$work/abi" >"$work/new"
    lost=$(comm -23 "$work/old" "$work/new")
    [ -z "$lost" ] || {
        printf '%s has not the fields (struct, offset in bits, name, type)\n%s\n' "$library" "$lost"
        status=1
    }
done
exit $status
