#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_examples.sh TOOL SOURCE_DIRECTORY COMPILER LIBRARY_DIRECTORY [SANITIZERS]
# Compiles and runs every C program in README.md and the manual pages as it stands there, and every command
# line of the tool, and compares what they print with what the page says that they print.
set -eu
# shellcheck source=tests/tool.sh
. "$(dirname "$0")/tool.sh"
source=$2 compiler=$3 library=$4 sanitizers=${5-}
unset ROPE_ISA
PATH=$(dirname "$rope"):$PATH

# ---- Blocks: PAGE.NUMBER, in the order of the page -------------------------------------------------

# What man(1) makes of a literal display: the escapes of mdoc are few.
for page in "$source"/cmake/man/*.[13]; do
    awk -v stem="$(basename "$page")" '
        /^\.Ed/ { inside = 0 }
        inside {
            gsub(/\\-/, "-"); gsub(/\\\(aq/, "\047"); gsub(/\\\(ha/, "^"); gsub(/\\&/, "")
            gsub(/\\e/, "\\")
            print >file
        }
        /^\.Bd -literal/ { inside = 1; file = sprintf("%s.%02d", stem, ++count); printf "" >file }
    ' "$page"
done
awk '
    $0 == "```" { inside = 0 }
    inside { print >file }
    /^```(c|text)$/ { inside = 1; file = sprintf("README.md.%02d", ++count); printf "" >file }
' "$source/README.md"
# Indented lines that start with a command of the tool, without their remarks.
sed -n 's/^    rope /$ rope /p' "$source/README.md" | sed 's/ *#.*//' >README.md.commands

# ---- C programs ------------------------------------------------------------------------------------

programs=0 sessions=0
for page in $(ls ./*.01 | sed 's|^./||; s|\.01$||'); do
    previous=
    for block in "$page".[0-9]*; do
        if grep -q 'int main(' "$block"; then
            cp "$block" "$block.c"
            config=
            if grep -q 'rope_config\.h' "$block"; then
                [ -e "$library/librope-config.so" ] || continue
                config=-lrope-config
            fi
            # shellcheck disable=SC2086
            "$compiler" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
                ${sanitizers:+-fsanitize="$sanitizers"} -I"$source/include" "$block.c" \
                -L"$library" -Wl,-rpath,"$library" $config -lrope -o program ||
                fail "$block: is not compiled"
            ./program >"$block.printed" || fail "$block: exit status $?; it printed: $(cat "$block.printed")"
            programs=$((programs + 1))
        elif [ -n "$previous" ] && [ -e "$previous.printed" ]; then
            diff -u "$block" "$previous.printed" || fail "$previous: the page promises another output"
            : >"$previous.compared"
        fi
        previous=$block
    done
done
for printed in *.printed; do
    [ ! -s "$printed" ] || [ -e "${printed%.printed}.compared" ] ||
        fail "${printed%.printed}: prints something of which the page says nothing: $(cat "$printed")"
done

# ---- Command lines ---------------------------------------------------------------------------------

# array NAME HEADS: float32 [5, heads, 128]; every element is 0x3f3f3f3f
array()
{
    header=$(printf "{'descr': '<f4', 'fortran_order': False, 'shape': (5, %d, 128), }" "$2")
    {
        printf '\223NUMPY\001\000'
        little 2 118
        printf '%-117s\n' "$header"
        head -c $((5 * $2 * 128 * 4)) /dev/zero | tr '\000' '?'
    } >"$1"
}

# The files that the commands name.
cp "$source/tests/config/llama-3.1-8b.json" config.json
array q.npy 32
array k.npy 8
tensors='{"model.layers.0.self_attn.q_proj.weight":{"dtype":"BF16","shape":[4096,2],"data_offsets":[0,16384]},'
tensors=$tensors'"model.layers.0.self_attn.k_proj.weight":{"dtype":"BF16","shape":[1024,2],"data_offsets":[16384,20480]}}'
{
    little 8 ${#tensors}
    printf %s "$tensors"
    seq 10000 | head -c 20480
} >model.safetensors
cp model.safetensors in.safetensors

# session FILE: lines "$ COMMAND", which a backslash may continue, each with the output that follows
session()
{
    awk '
        sub(/^\$ /, "") { count++; kind = "command"; again = 1 }
        { if (!again) kind = "output"; again = 0
          print >sprintf("session.%02d.%s", count, kind)
          if (kind == "command" && /\\$/) again = 1 }
    ' "$1"
    for command in session.*.command; do
        : >printed
        sh -eu "./$command" >printed 2>&1 || fail "$1: $(cat "$command"): exit status $?: $(cat printed)"
        # README shows no output of its commands.
        case $1 in
        README*) ;;
        *)
            wanted=${command%.command}.output
            [ -e "$wanted" ] || : >"$wanted"
            diff -u "$wanted" printed || fail "$1: $(cat "$command"): the page promises another output"
            ;;
        esac
        sessions=$((sessions + 1))
    done
    rm -f session.*
}
if [ -e "$library/librope-config.so" ]; then
    for block in rope.1.[0-9]* README.md.commands; do
        session "$block"
    done
fi

# A page without an example, or a test that finds none, is a fault.
for page in "$source"/cmake/man/*.3; do
    name=$(basename "$page")
    grep -q 'int main(' "$name".[0-9]* || fail "$name: has no example"
done
[ -e README.md.01.compared ] || fail "README.md: has no example with its output"
[ $sessions -gt 0 ] || [ ! -e "$library/librope-config.so" ] || fail "no command line was found"
echo "$programs programs, $sessions command lines"
