#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_man.sh TOOL SOURCE_DIRECTORY COMPILER CMAKE BUILD_DIRECTORY
# The manual pages say what the headers and the tool say: every public function, type, field and constant,
# every command and option has its place, and nothing stands there that does not exist.  The compiler
# compares the prototypes and the types of fields.
set -eu
# shellcheck source=tests/tool.sh
. "$(dirname "$0")/tool.sh"
pages=$2/cmake/man include=$2/include compiler=$3 cmake=$4 build=$5

# none WHAT FILE: the file has no line
none()
{
    [ ! -s "$2" ] || fail "$1: $(tr '\n' ' ' <"$2")"
}

# ---- What the headers declare ----------------------------------------------------------------------

echo '#include "rope/rope_config.h"' | "$compiler" -std=c11 -DROPE_STATIC -I"$include" -E -P - | tr -s ' \t\n' ' ' |
    sed 's/[;{}]/&\
/g' >declared
grep -o 'rope_[a-z0-9_]*(' declared | tr -d '(' | sort -u >functions
grep -oE 'ROPE_[A-Z0-9_]+' declared | sort -u >constants
# "type.field" for every field
awk '
    match($0, /typedef struct rope_[a-z_]+ *\{/) {
        type = $0; sub(/.*struct /, "", type); sub(/ *\{.*/, "", type); next
    }
    type != "" && /^ *\}/ { type = ""; next }
    type != "" {
        sub(/;.*/, "")
        count = split($0, name, ",")
        for (i = 1; i <= count; i++) {
            sub(/ *$/, "", name[i]); sub(/.*[ *]/, "", name[i]); print type "." name[i]
        }
    }' declared | sort >fields
{
    grep -oE 'typedef [a-z0-9_ ]+;' declared | sed 's/;//; s/.* //'
    sed -n 's/^ *} *\(rope_[a-z_]*\);/\1/p' declared
    # a struct and its name are two lines
    sed -n 's/.*typedef struct \(rope_[a-z_]*\).*/\1/p' declared
} | grep '^rope_' | sort -u >types
for list in functions constants fields types; do
    [ "$(wc -l <$list)" -gt 15 ] || fail "only $(wc -l <$list) $list were found in the headers"
done

# ---- Functions and types ---------------------------------------------------------------------------

for page in "$pages"/*.3; do
    awk '/^\.Sh / { name = $2 == "NAME" } name && $1 == ".Nm" { print $2 }' "$page"
done | grep -v '^rope$' | sort >named
sort -u named | diff - named >twice || fail "named by two pages: $(cat twice)"
sort -u functions types | comm -13 - named >unknown
none "pages name what the headers do not declare" unknown
comm -23 functions named >missing
none "functions without a page" missing
for name in rope_plan rope_spec rope_job rope_tensor rope_rows rope_positions; do
    grep -qx "$name" named || fail "$name: has no page"
done

# A page is about the first name in it.
for page in "$pages"/*.[13]; do
    first=$(awk '/^\.Sh / { name = $2 == "NAME" } name && $1 == ".Nm" { print $2; exit }' "$page")
    file=$(basename "$page")
    [ "${file%.*}" = "$first" ] || fail "$file: is about $first"
    title=$(printf '%s %s' "${file%.*}" "${file##*.}" | tr '[:lower:]' '[:upper:]')
    grep -qx "\.Dt $title" "$page" || fail "$file: its title is not $title"
    # References are to pages of ours.
    grep -oE 'Xr [a-z_]+ [0-9]' "$page" | sort -u | while read -r _ name section; do
        other=$name.$section
        [ -e "$pages/$other" ] || fail "$file: there is no page $other"
    done
done

# ---- Prototypes and fields, compared by the compiler -----------------------------------------------

{
    echo '#include "rope/rope_config.h"'
    for page in "$pages"/*.3; do
        awk '
            # The arguments of a macro: quoted or not.
            function words(line, list, count, word)
            {
                count = 0
                while (line != "") {
                    sub(/^ +/, "", line)
                    if (substr(line, 1, 1) == "\"") {
                        word = substr(line, 2); sub(/".*/, "", word)
                        line = substr(line, length(word) + 3)
                    } else {
                        word = line; sub(/ .*/, "", word); line = substr(line, length(word) + 1)
                    }
                    if (word != "")
                        list[++count] = word
                }
                return count
            }
            /^\.Sh / { synopsis = $2 == "SYNOPSIS"; type = "" }
            /^\.Ss / { type = $2 ~ /^rope_[a-z_]+$/ ? $2 : "" }
            !synopsis && !/^\.It Va/ { next }
            $1 == ".Ft" { words(substr($0, 5), word); result = word[1] }
            $1 == ".Fn" {
                count = words(substr($0, 5), word)
                list = word[2]
                for (i = 3; i <= count; i++)
                    list = list ", " word[i]
                print result " " word[1] "(" list ");"
                print word[1] >"prototypes"
            }
            $1 == ".Fo" { name = $2; list = "" }
            $1 == ".Fa" { words(substr($0, 5), word); list = list (list == "" ? "" : ", ") word[1] }
            $1 == ".Fc" { print result " " name "(" list ");"; print name >"prototypes" }
            $1 == ".It" && type != "" {
                words(substr($0, 8), word)
                field = word[1]; sub(/.*[ *]/, "", field)
                of = substr(word[1], 1, length(word[1]) - length(field))
                print "_Static_assert(_Generic(&((" type " *)0)->" field ", " of "*: 1, default: 0), \"" \
                    type "." field "\");"
                print type "." field >"described"
            }' "$page"
        # the next page adds to them
        cat prototypes >>all_prototypes 2>/dev/null || :
        cat described >>all_described 2>/dev/null || :
        rm -f prototypes described
    done
} >pages.c
"$compiler" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$include" -fsyntax-only pages.c ||
    fail "the pages do not agree with the headers"
sort all_prototypes | diff functions - >difference || fail "prototypes of functions: $(cat difference)"
sort all_described | diff fields - >difference || fail "fields of structs: $(cat difference)"

# ---- Constants -------------------------------------------------------------------------------------

grep -ohE '\bROPE_[A-Z0-9_]+' "$pages"/*.3 | sort -u >mentioned
comm -23 constants mentioned >missing
none "constants that no page names" missing
grep -hoE '^#define ROPE_[A-Z0-9_]+' "$include"/rope/*.h | sed 's/.* //' | sort -u constants - >known
# ROPE_ISA is a variable of the environment; titles of pages are names in capitals.
{
    echo ROPE_ISA
    tr '[:lower:]' '[:upper:]' <named
} | sort -u known - | comm -13 - mentioned >unknown
none "pages name constants that do not exist" unknown

# Every status that the comment of a function lists stands in its page.
for header in "$include"/rope/*.h; do
    awk '
        /^\/\*/ { comment = "" }
        { comment = comment " " $0 }
        /^ROPE_API/ {
            name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            while (match(comment, /ROPE_ERR_[A-Z]+/)) {
                print name, substr(comment, RSTART, RLENGTH)
                comment = substr(comment, RSTART + RLENGTH)
            }
        }' "$header"
done >listed
[ "$(wc -l <listed)" -gt 50 ] || fail "only $(wc -l <listed) statuses of functions were found in the headers"
while read -r function status; do
    page=$(grep -lx "\.Nm $function\( ,\)\{0,1\}" "$pages"/*.3)
    grep -qw "$status" "$page" || fail "$(basename "$page"): $function may return $status"
done <listed

# ---- The tool --------------------------------------------------------------------------------------

"$rope" --help >help
commands=$(awk '/Commands:$/ { list = 1; next } /^$/ { list = 0 } list { print $1 }' help)
[ -n "$commands" ] || fail "rope --help lists no command"
: >options
for command in $commands; do
    grep -qx "\.Cm $command" "$pages/rope.1" || fail "rope.1: SYNOPSIS has no $command"
    grep -qx "\.Ss rope $command" "$pages/rope.1" || fail "rope.1: does not describe $command"
    "$rope" "$command" --help >help
    sed -n 's/^  --\([a-z0-9-]*\) .*/\1/p' help >>options
    # the words that an option takes: --profile exact|transformers|...
    sed -n 's/^  --\([a-z0-9-]*\) \([a-z0-9|-]*|[a-z0-9|-]*\).*/\1 \2/p' help | sed 's/|/ | /g' |
        while read -r option words; do
            grep -qxF ".It Fl -$option Cm $words" "$pages/rope.1" ||
                fail "rope.1: --$option of rope $command is not one of: $words"
        done
done
sort -u options -o options
sed -n 's/^\.It Fl -\([a-z0-9-]*\).*/\1/p' "$pages/rope.1" | sort -u | diff options - >difference ||
    fail "rope.1: options: $(cat difference)"
sed -n 's/^\.Ss rope \([a-z]*\)$/\1/p' "$pages/rope.1" | while read -r command; do
    case " $(echo "$commands" | tr '\n' ' ') " in
    *" $command "*) ;;
    *) fail "rope.1: there is no command $command" ;;
    esac
done

# The keys of rope config: those of models with a second rotation, a scaled query and a key of its own.
for model in '{"model_type": "llama4_text", "head_dim": 128, "num_hidden_layers": 4}' \
    '{"model_type": "deepseek_v3", "hidden_size": 8, "num_attention_heads": 2, "qk_nope_head_dim": 4,
      "qk_rope_head_dim": 4, "num_hidden_layers": 1}' \
    '{"model_type": "gemma4_vision", "hidden_size": 768, "num_attention_heads": 12, "num_hidden_layers": 1}'; do
    echo "$model" >model.json
    "$rope" config model.json >>json || fail "rope config: $model"
done
grep -oE '"[a-z_]+": ' json | tr -d '": ' | sort -u >keys
awk '/^\.Ss / { config = $0 == ".Ss rope config" } config && (/^\.Va/ || /^\.It Va/)' "$pages/rope.1" |
    grep -oE '[a-z_]{4,}' | sort -u | diff keys - >difference || fail "rope.1: keys of rope config: $(cat difference)"

# ---- Installed -------------------------------------------------------------------------------------

# Each name has a file, so that man(1) finds it without an index.
"$cmake" --install "$build" --prefix "$work/installed" --component librope_dev >install.log || fail "$(cat install.log)"
while read -r name; do
    file=$work/installed/share/man/man3/$name.3
    [ -e "$file" ] || fail "$name.3 is not installed"
    page=$(sed -n 's/^\.so //p' "$file")
    grep -q "^\.Nm $name" "$work/installed/share/man/${page:-man3/$name.3}" || fail "$name.3: is not about $name"
done <named

# ---- The form --------------------------------------------------------------------------------------

cd "$pages" # where mandoc looks for the pages that others refer to
if command -v mandoc >/dev/null; then
    mandoc -Tlint ./*.[13] || fail "mandoc -Tlint has remarks"
else
    echo "no mandoc: its remarks were not asked for"
fi
# What most systems show pages with reads some lines otherwise.
if command -v groff >/dev/null; then
    for page in ./*.[13]; do
        groff -mandoc -z -T utf8 -w all "$page"
    done >"$work/remarks" 2>&1
    none "groff has remarks" "$work/remarks"
else
    echo "no groff: its remarks were not asked for"
fi
