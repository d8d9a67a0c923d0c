#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_abi.sh SOURCE_DIRECTORY COMPILER
# cmake/abi/check.sh stops every kind of change that breaks programs, and lets through what does not.  The
# libraries here are made of the public header and the map alone: empty functions, the real types.
set -eu
source=$1 compiler=$2
command -v abidiff >/dev/null || {
    echo "skipped: no abidiff"
    exit 77
}
[ "$(echo __LP64__ | "$compiler" -E -P -)" = 1 ] || {
    echo "skipped: the records are those of 64-bit systems"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# fresh: header and map as they are, to be changed
fresh()
{
    rm -rf "$work/include"
    mkdir -p "$work/include/rope"
    cp "$source/include/rope/rope.h" "$work/include/rope/rope.h"
    cp "$source/src/librope.map" "$work/map"
    header=$work/include/rope/rope.h
}

# expect passes|stops WHAT [COMPILER OPTION]
expect()
{
    {
        echo '#include "rope/rope.h"'
        # "ROPE_API type name(parameters);" becomes a definition.
        awk 'sub(/^ROPE_API /, "") { open = 1 } open && sub(/;$/, " { __builtin_trap(); }") { print; open = 0 }
            open' "$header"
    } >"$work/stub.c"
    "$compiler" -std=c11 "${3--g}" -fPIC -shared -w -I"$work/include" -Wl,--version-script="$work/map" \
        -Wl,-soname,librope.so.1 "$work/stub.c" -o "$work/librope.so"
    result=stops
    sh "$source/cmake/abi/check.sh" "$work/librope.so" >"$work/out" 2>&1 && result=passes
    [ $result = "$1" ] || {
        echo "check.sh $result, where it must not: $2"
        cat "$work/out"
        failures=1
    }
}

# change FILE SED-SCRIPT: must change something
change()
{
    sed "$2" "$1" >"$work/changed"
    ! cmp -s "$1" "$work/changed" || {
        echo "\"$2\" changes nothing"
        exit 1
    }
    mv "$work/changed" "$1"
}

fresh
expect passes "nothing changed"
expect stops "no debug information" -g0

fresh
change "$header" '/^    size_t matrices;/d; s/^    size_t row_length;.*/&\n    size_t matrices;/'
expect stops "a moved field"

fresh
change "$header" '/^ROPE_API rope_status rope_shift/d'
change "$work/map" '/rope_shift;/d'
expect stops "a removed symbol"

fresh
change "$header" '/^    size_t matrices;/d; s/^    size_t row_length;.*/&\n    size_t matrices;/
    /^ROPE_API rope_status rope_shift/d'
change "$work/map" '/rope_shift;/d'
expect stops "a moved field and a removed symbol"

fresh
change "$work/map" '/rope_shift;/d; s/^    rope_self_test;$/&\n    rope_shift;/'
expect stops "a symbol in another node"

fresh
change "$header" 's/^    double theta;$/    size_t more;\n&/'
expect stops "a field inserted"

fresh
change "$header" 's/^    double theta;$/    float theta, more;/'
expect stops "a field of another type"

fresh
change "$header" 's/^typedef int32_t rope_status;/typedef int64_t rope_status;/'
expect stops "another type of all results"

fresh
change "$header" 's/^ROPE_API const char \*rope_isa_name(rope_isa isa)/ROPE_API const char *rope_isa_name(const char *isa)/'
expect stops "a parameter of another type"

fresh
change "$header" 's/^ROPE_API uint32_t rope_version(void)/ROPE_API uint64_t rope_version(void)/'
expect stops "a result of another type"

fresh
change "$header" 's/^} rope_spec;$/    double more;\n&/'
expect passes "a field appended to a descriptor"

fresh
change "$header" '/^    size_t matrices;/d; s/^} rope_permutation;$/    size_t matrices;\n    double more;\n&/'
expect stops "a field moved behind the others, and one appended"

fresh
change "$header" 's/^ROPE_API uint32_t rope_version(void);/&\nROPE_API void rope_more(int number);/'
change "$work/map" 's/^    rope_self_test;$/&\n    rope_more;/'
expect passes "a new function"

exit $failures
