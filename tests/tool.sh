# SPDX-License-Identifier: Apache-2.0
# Read by tests of the program `rope`, whose first argument is its path: `rope` becomes that path, absolute, and the
# working directory `work`, which is removed at the end.
# shellcheck shell=sh disable=SC2034
case $1 in
/*) rope=$1 ;;
*) rope=$PWD/$1 ;;
esac
LC_ALL=C
export LC_ALL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1

fail()
{
    echo "$*"
    exit 1
}

# contains FILE PATTERN...: every pattern is a line's part
contains()
{
    file=$1
    shift
    for pattern; do
        grep -qF -- "$pattern" "$file" || fail "$file has no: $pattern; it is: $(cut -c1-2000 "$file")"
    done
}

# little COUNT NUMBER: the number in so many bytes
little()
{
    number=$2
    escapes=
    for _ in $(seq "$1"); do
        escapes=$escapes\\$(printf %03o $((number & 255)))
        number=$((number >> 8))
    done
    # shellcheck disable=SC2059
    printf "$escapes"
}
