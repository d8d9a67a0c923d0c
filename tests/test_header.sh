#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_header.sh SOURCE_DIRECTORY COMPILER STANDARD
# Each public header compiles alone, without a warning, as c99, c11 or c++11.
set -eu
source=$1 compiler=$2 standard=$3
case $standard in
c++*) language=c++ ;;
*) language=c ;;
esac

command -v "$compiler" >/dev/null || {
    echo "skipped: no $compiler"
    exit 77
}
# gcc knows C++ only where g++ is installed.
echo | "$compiler" -x $language -std="$standard" -fsyntax-only - 2>/dev/null || {
    echo "skipped: $compiler has no $standard"
    exit 77
}
exec "$compiler" -x $language -std="$standard" -fsyntax-only -Wall -Wextra -Wpedantic -Wconversion \
    -Wshadow -Wundef -Werror -I"$source/include" "$source/tests/test_header.c" \
    "$source/tests/test_config_header.c"
