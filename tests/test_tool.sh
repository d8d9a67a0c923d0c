#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of the program `rope`.  Usage: test_tool.sh ROPE, the path of the program.  Needs no interpreter but sh.
# Expected bytes come from the formulas in rope.h, evaluated with 60 digits and exact fractions, never from the program.
set -u
case $1 in
/*) rope=$1 ;;
*) rope=$PWD/$1 ;;
esac
unset ROPE_ISA
LC_ALL=C
export LC_ALL
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$scratch/work"
cd "$scratch/work" || exit 1
failures=0
checks=0

fail() {
    failures=$((failures + 1))
    printf 'FAIL: %s\n' "$*"
}

check() { # WHAT, ACTUAL, EXPECTED
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1: '$2', expected '$3'"
}

# ok, differs: run the program; exit code 0 or 1, nothing on standard error.  Output is in ../out.
run() { # EXIT-CODE, ARGUMENTS
    wanted=$1
    shift
    checks=$((checks + 1))
    "$rope" "$@" >../out 2>../err
    got=$?
    [ $got -eq "$wanted" ] || fail "rope $*: exit code $got, expected $wanted: $(cat ../out ../err)"
    [ ! -s ../err ] || [ $got -eq 2 ] || fail "rope $*: on standard error: $(cat ../err)"
}
ok() { run 0 "$@"; }
differs() { run 1 "$@"; }

# bad: exit code 2, one line on standard error that has TEXT in it, nothing on standard output, no file made or removed.
bad() { # TEXT, ARGUMENTS
    text=$1
    shift
    before=$(ls -A)
    run 2 "$@"
    check "rope $*: lines of error" "$(wc -l <../err | tr -d ' ')" 1
    check "rope $*: output" "$(cat ../out)" ""
    check "rope $*: files" "$(ls -A)" "$before"
    case $(cat ../err) in
    "rope: "*"$text"*) ;;
    *) fail "rope $*: '$(cat ../err)' does not say '$text'" ;;
    esac
}

has() { # LINE of ../out
    checks=$((checks + 1))
    grep -qxF -- "$1" ../out || fail "no line '$1' in: $(cat ../out)"
}

equal() { # FILE, FILE
    checks=$((checks + 1))
    cmp "$1" "$2" || fail "$1 and $2 differ"
}

# All .npy headers here have 128 bytes.
dict() { # FILE, DICT; data on standard input
    {
        printf '\223NUMPY\001\000\166\000'
        printf '%-117s\n' "$2"
        cat
    } >"$1"
}
npy() { # FILE, DESCR, SHAPE; data on standard input
    dict "$1" "{'descr': '$2', 'fortran_order': False, 'shape': $3, }"
}
bytes() { # HEX DIGITS, to bytes
    printf "$(printf '%s' "$1" | sed 's/../& /g' | tr ' ' '\n' | while read -r byte; do
        [ -n "$byte" ] && printf '\\%03o' "0x$byte"
    done)"
}
data() { # FILE
    tail -c +129 "$1" | od -An -v -tx1 | tr -d ' \n'
}
header() { # FILE
    head -c 128 "$1" | tail -c +11 | sed 's/ *$//'
}

# ---- info and help ----

version=$(sed -n '/^version /s/^version *//p' <<EOF
$("$rope" info)
EOF
)
check "version" "$("$rope" --version)" "rope $version"
ok info
checks=$((checks + 1))
grep -Eqx 'version +[0-9]+\.[0-9]+\.[0-9]+' ../out || fail "info: no version"
for line in built available active sleef; do
    checks=$((checks + 1))
    grep -Eq "^$line +[^ ]" ../out || fail "info: no $line"
done
available=$(sed -n 's/^available *//p' ../out)
active=$(sed -n 's/^active *//p' ../out)
case " $available " in
*" scalar "*" $active "* | *" scalar "*) ;;
*) fail "info: scalar is not among '$available'" ;;
esac
for isa in $available; do
    check "active set under ROPE_ISA=$isa" "$(ROPE_ISA=$isa "$rope" info | sed -n 's/^active *//p')" "$isa"
done
check "active set under ROPE_ISA=mmx" "$(ROPE_ISA=mmx "$rope" info | sed -n 's/^active *//p')" \
    'none (ROPE_ISA is "mmx", which is not available)'
for command in info table apply verify; do
    ok $command --help
    checks=$((checks + 1))
    grep -q "^usage: rope $command" ../out || fail "$command --help: no usage"
done
ok --help
has "usage: rope COMMAND [OPTION]..."
if [ -c /dev/full ]; then
    checks=$((checks + 1))
    "$rope" --help >/dev/full 2>../err
    [ $? -eq 2 ] || fail "a full standard output is not noticed"
fi

# ---- table ----

table() { # FILE, SHAPE, DESCR, HEX DIGITS of the data, ARGUMENTS
    file=$1 shape=$2 descr=$3 wanted_data=$4
    shift 4
    ok table "$@" "$file"
    check "table $*: header" "$(header "$file")" "{'descr': '$descr', 'fortran_order': False, 'shape': $shape, }"
    check "table $*" "$(data "$file")" "$wanted_data"
}
# theta 10000, d 4: frequencies 1 and 0.01
table t.npy '(1, 4)' '<f4' 0000803f0000803f0000000000000000 --positions 0:1 --rotary-dim 4
table t.npy '(2, 4)' '<f4' 0000803f0000803f000000000000000040510a3fb9fc7f3fa46a573f57d6233c \
    --positions 0:2 --rotary-dim 4
table t.npy '(1, 4)' '<f4' 40510a3fb9fc7f3fa46a573f57d6233c --positions 1:1 --head-dim 4
table t.npy '(1, 4)' '<f4' 9a5730bf357b36bf229439bfa58b333f --positions=2147483647:1 --rotary-dim=4
table t.npy '(1, 4)' '<f4' 26707dbf83e27f3fc38110be20b9f5bc --positions -3:1 --rotary-dim 4
table t.npy '(1, 4)' '<f4' 26707dbf83e27f3fc381103e20b9f53c --positions -3:1 --rotary-dim 4 --direction transpose
table t.npy '(1, 4)' '<f2' 83b9b4b9cdb99c39 --positions 2147483647:1 --rotary-dim 4 --dtype f16
table t.npy '(1, 4)' '<u2' 30bf36bf3abf343f --positions 2147483647:1 --rotary-dim 4 --dtype bf16
table t.npy '(1, 4)' '<f4' 8e24763ff6ffbf3f4c5e933f394af33a --positions 7:1 --rotary-dim 4 --theta 500000 \
    --scaling linear --factor 8 --attention-factor 1.5
table t.npy '(0, 4)' '<f4' '' --positions 5:0 --rotary-dim 4
# layouts, at position 1
table t.npy '(1, 4)' '<f4' 40510a3fa46a573fb9fc7f3f57d6233c --positions 1:1 --rotary-dim 4 --layout pairs
table t.npy '(2, 1, 2)' '<f4' 40510a3fb9fc7f3fa46a573f57d6233c --positions 1:1 --rotary-dim 4 --layout separate
table t.npy '(2, 2, 2)' '<f4' 0000803f0000803f40510a3fb9fc7f3f0000000000000000a46a573f57d6233c \
    --positions 0:2 --rotary-dim 4 --layout separate
table t.npy '(2, 1, 4)' '<f4' 40510a3fb9fc7f3f40510a3fb9fc7f3fa46a573f57d6233ca46a573f57d6233c \
    --positions 1:1 --rotary-dim 4 --layout dup-half
table t.npy '(2, 1, 4)' '<f4' 40510a3f40510a3fb9fc7f3fb9fc7f3fa46a573fa46a573f57d6233c57d6233c \
    --positions 1:1 --rotary-dim 4 --layout dup-pairs
# f64 has a bound of 1 ulp, not an equality: cos 1, cos 0.01, sin 1, sin 0.01
bytes 8c06b50f284ae13faa97ad2497ffef3fee0c098f54edea3f07e815e9ca7a843f | npy wanted.npy '<f8' '(1, 4)'
ok table --positions 1:1 --rotary-dim 4 --dtype f64 t.npy
ok verify t.npy wanted.npy --max-ulp 1
# positions from files, fractional ones among them: -3, 2.5
bytes 000040c000002040 | npy p4.npy '<f4' '(2,)'
bytes 00000000000008c00000000000000440 | npy p8.npy '<f8' '(2,)'
bytes fdffffff01000000 | npy i4.npy '<i4' '(2,)'
bytes fdffffffffffffff0100000000000000 | npy i8.npy '<i8' '(2,)'
for file in p4.npy p8.npy; do
    table t.npy '(2, 4)' '<f4' 26707dbf83e27f3fc38110be20b9f5bcbf174dbf85eb7f3f7835193f57c7cc3c \
        --positions $file --rotary-dim 4
done
for file in i4.npy i8.npy; do
    table t.npy '(2, 4)' '<f4' 26707dbf83e27f3fc38110be20b9f5bc40510a3fb9fc7f3fa46a573f57d6233c \
        --positions $file --rotary-dim 4
done
# own inverse frequencies, 1 and 2.5, at position 1: the cosines and sines of 1 and of 2.5
bytes 0000803f00002040 | npy freq4.npy '<f4' '(2,)'
bytes 000000000000f03f0000000000000440 | npy freq8.npy '<f8' '(2,)'
for file in freq4.npy freq8.npy; do
    table t.npy '(1, 4)' '<f4' 40510a3fbf174dbfa46a573f7835193f --positions 1:1 --inv-freq $file
done

# ---- apply ----

apply() { # DESCR, HEX DIGITS of q, HEX DIGITS of the result, ARGUMENTS
    descr=$1 wanted_data=$3
    bytes "$2" | npy q.npy "$descr" '(1, 1, 4)'
    shift 3
    ok apply --q q.npy --q-out r.npy --positions 1 "$@"
    check "apply $*: header" "$(header r.npy)" "{'descr': '$descr', 'fortran_order': False, 'shape': (1, 1, 4), }"
    check "apply $*" "$(data r.npy)" "$wanted_data"
    ok verify --q q.npy --q-out r.npy --positions 1 "$@"
}
# (1, 2, 3, 4) at position 1, theta 10000
f32=0000803f000000400000404000008040
apply '<f4' $f32 56f7fdbf06defa3f99971d4033a28040
apply '<f4' $f32 56f7fdbf06defa3f99971d4033a28040 --arith eager
apply '<f4' $f32 044292bf9206f63f316e3d401ef48040 --pairing interleaved
apply '<f4' $f32 044292bf316e3d409206f63f1ef48040 --pairing interleaved --out-pairing half
apply '<f4' $f32 381b934091d44340d7a6953fc907bf40 --attention-factor 1.5 --direction transpose
apply '<f2' 003c004000420044 f0bfd73fed400544
apply '<f2' 003c004000420044 eebfd73fed400544 --arith eager
apply '<f2' 003c004000420044 92bcb03feb410844 --pairing interleaved
apply '<f2' 003c004000420044 99441f42ad3cf845 --attention-factor 1.5 --direction transpose
apply '<u2' 803f004040408040 febffb3f1e408140 --bf16
apply '<u2' 803f004040408040 fdbffb3f1d408140 --bf16 --arith eager
apply '<u2' 803f004040408040 92bff63f3d408140 --bf16 --pairing=interleaved
# f64: the rows may be 1 ulp off, so the result of values up to 4 by 2 ulp of 4
bytes 000000000000f03f000000000000004000000000000008400000000000001040 | npy q.npy '<f8' '(1, 1, 4)'
bytes 1e10b3ceeabeffbf6ae864cdc05bff3f24088a2ff3b20340bde13f5d46141040 | npy wanted.npy '<f8' '(1, 1, 4)'
ok apply --q q.npy --q-out r.npy --positions 1
ok verify r.npy wanted.npy --max-abs 1.8e-15
ok verify --q q.npy --q-out r.npy --positions 1
# an output may replace its input
bytes $f32 | npy q.npy '<f4' '(1, 1, 4)'
ok apply --q q.npy --q-out q.npy --positions 1
check "apply onto its input" "$(data q.npy)" 56f7fdbf06defa3f99971d4033a28040
# heads, tokens, offset: (9, 1, 2, 3, 4, 9) twice; head_dim 6, rotated from 1 on; token 0 stays, token 1 turns
nine=00001041
bytes $nine$f32$nine$nine$f32$nine | npy q.npy '<f4' '(2, 1, 6)'
ok apply --q q.npy --q-out r.npy --rotary-offset 1 --rotary-dim 4
check "apply with an offset" "$(data r.npy)" "$nine$f32$nine${nine}56f7fdbf06defa3f99971d4033a28040$nine"
# the same as a batch of two with one token each, at the positions 0 and 1
bytes $nine$f32$nine$nine$f32$nine | npy q4.npy '<f4' '(2, 1, 1, 6)'
bytes 0000000001000000 | npy p.npy '<i4' '(2, 1)'
ok apply --q q4.npy --q-out r4.npy --rotary-offset 1 --rotary-dim 4 --positions p.npy
check "apply to a batch" "$(data r4.npy)" "$(data r.npy)"
check "apply to a batch: header" "$(header r4.npy)" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 1, 6), }"
# nothing to do
npy q.npy '<f4' '(0, 3, 4)' </dev/null
npy k.npy '<f4' '(0, 1000000000000000000, 4)' </dev/null
ok apply --q q.npy --q-out r.npy --k k.npy --k-out s.npy
equal q.npy r.npy
equal k.npy s.npy
ok verify --q q.npy --q-out r.npy --k k.npy --k-out s.npy

# ---- apply and verify, all ways; q is [2, 24, 40], k [2, 24, 40] at other values ----

rm -f ./*.npy
for dtype in f16 f32 f64 bf16; do
    ok table --positions 100000:24 --rotary-dim 80 --layout separate --dtype $dtype q-$dtype.npy
    ok table --positions -300000:24 --rotary-dim 80 --layout separate --dtype $dtype k-$dtype.npy
done
bytes 00000000000004c0cdcccccccc4c8f40 | npy fractions.npy '<f8' '(2,)' # -2.5, 1001.6
count=0
for dtype in f16 f32 f64 bf16; do
    case $dtype in
    bf16) flag=--bf16 ;;
    *) flag= ;;
    esac
    for options in "" "--pairing interleaved" "--pairing interleaved --out-pairing half" "--out-pairing interleaved" \
        "--arith eager" "--arith unfused" "--row-dtype bf16" "--row-dtype f16 --arith eager" "--row-dtype f32" "--angle f32" \
        "--direction inverse --attention-factor 1.25" "--direction transpose --attention-factor 1.25" \
        "--direction shift --attention-factor 1.25" "--attention-factor 0.75 --theta 1000000" \
        "--scaling linear --factor 3" "--rotary-dim 32" "--rotary-dim 8 --rotary-offset 6 --k-rotary-offset 3"; do
        for positions in 0 1048570 2147483600 -2147483600 fractions.npy; do
            both="--q q-$dtype.npy --q-out r.npy --k k-$dtype.npy --k-out s.npy $flag $options --positions $positions"
            ok apply $both
            ok verify $both
            check "verify $both: refused" "$(grep -c '^  refused   0$' ../out)" 2
            count=$((count + 1))
        done
    done
done
# types may differ between q and k
ok apply --q q-f32.npy --q-out r.npy --k k-bf16.npy --k-out s.npy --bf16 --positions 7
ok verify --q q-f32.npy --q-out r.npy --k k-bf16.npy --k-out s.npy --bf16 --positions 7
# q alone and k alone give what both together gave
ok apply --q q-f32.npy --q-out alone.npy --positions 7
equal alone.npy r.npy
ok apply --k k-bf16.npy --k-out alone.npy --bf16 --positions 7
equal alone.npy s.npy

# every 16-bit pattern, NaN, infinities and subnormals among them, and as many odd f32 and f64
awk 'BEGIN { for (i = 0; i < 65536; i++) printf "%c%c", i % 256, int(i / 256) }' >../patterns
check "patterns: bytes" "$(wc -c <../patterns | tr -d ' ')" 131072
for type in '<f2:32' '<u2:32:--bf16' '<f4:16' '<f8:8'; do
    flag=${type#*:}
    npy patterns.npy "${type%%:*}" "(${flag%:*}, 16, 128)" <../patterns
    case $flag in
    *:*) flag=${flag#*:} ;;
    *) flag= ;;
    esac
    for options in "" "--arith eager" "--pairing interleaved --direction transpose --attention-factor 3"; do
        both="--q patterns.npy --q-out r.npy --positions -15 $flag $options"
        ok apply $both
        ok verify $both
    done
done

# verify sees every wrong setting and every wrong bit, and names the place
both="--q q-f32.npy --q-out r.npy --positions 7"
ok apply $both
for options in "--theta 10001" "--positions 8" "--pairing interleaved" "--direction inverse" "--arith eager" \
    "--attention-factor 1.001" "--row-dtype bf16" "--rotary-dim 38" "--scaling linear --factor 1.01"; do
    case $options in
    --positions*) differs verify --q q-f32.npy --q-out r.npy $options ;;
    *) differs verify $both $options ;;
    esac
done
flip() { # FILE, ELEMENT, BYTES of an element: flips the last bit of the element
    at=$((128 + $2 * $3))
    byte=$(od -An -tu1 -j $at -N 1 "$1" | tr -d ' ')
    {
        head -c $at "$1"
        printf "\\$(printf %03o $((byte ^ 1)))"
        tail -c +$((at + 2)) "$1"
    } >flipped.npy
}
flip r.npy 1003 4 # [1, 1, 3] of [2, 24, 40]
differs verify --q q-f32.npy --q-out flipped.npy --positions 7
has "  differ    1 of 1920"
has "  refused   1"
has "  max ulp   1"
checks=$((checks + 1))
grep -q '^  first     \[1, 1, 3\]: ' ../out || fail "verify: wrong place: $(cat ../out)"
ok verify --q q-f32.npy --q-out flipped.npy --positions 7 --max-ulp 1
has "  differ    1 of 1920"
has "  refused   0"
ok verify --q q-f32.npy --q-out flipped.npy --positions 7 --max-abs 1.2e-7
ok apply --q q-f32.npy --q-out r.npy --positions 7 --rotary-dim 8
flip r.npy 1919 4 # the last one, which is not rotated
differs verify --q q-f32.npy --q-out flipped.npy --positions 7 --rotary-dim 8
checks=$((checks + 1))
grep -q '^  first     \[1, 23, 39\]: ' ../out || fail "verify: wrong place: $(cat ../out)"
differs verify --q q-f32.npy --q-out q-f16.npy
differs verify --q q-f32.npy --q-out k-f64.npy

# inverse undoes forward.  Values are at most 1; a row entry is off by 1/2 ulp (f64: 4e-16), so each of the two rotations
# is off by at most 2 such errors and 2 roundings: 2 (2 * 2^-25 + 2^-25 + 2^-24) < 3e-7, and 2.6e-15 for f64
undo() { # DTYPE, BOUND
    ok apply --q q-$1.npy --q-out r.npy --positions 123456 --attention-factor 1.5
    ok apply --q r.npy --q-out s.npy --positions 123456 --attention-factor 1.5 --direction inverse
    ok verify q-$1.npy s.npy --max-abs "$2"
    differs verify q-$1.npy r.npy --max-abs "$2"
}
undo f32 3e-7
undo f64 2.6e-15

# ---- verify of two files ----

# 1, 2, NaN, 0, 3 and 1, 2 + 1 ulp, another NaN, -0, 3
bytes 0000803f000000400000c07f0000000000004040 | npy a.npy '<f4' '(5,)'
bytes 0000803f010000400100c0ff0000008000004040 | npy b.npy '<f4' '(5,)'
differs verify a.npy b.npy
has "a.npy: f32 [5]"
has "  differ    2 of 5"
has "  refused   2"
has "  max abs   2.38418579e-07"
has "  max ulp   1"
has "  first     [1]: 2, b.npy: 2.000000238"
ok verify a.npy b.npy --max-ulp 1
ok verify a.npy b.npy --max-abs 2.4e-7
ok verify a.npy a.npy
has "  differ    0 of 5"
# what is accepted does not hide the first that is not: 2 + 1 ulp, then 3.5
bytes 0000803f010000400000c07f0000000000006040 | npy c.npy '<f4' '(5,)'
differs verify a.npy c.npy --max-ulp 1
has "  refused   1"
has "  max abs   0.5"
has "  first     [4]: 3, c.npy: 3.5"
# NaN against a number, types, shapes
bytes 0000803f00000040000080410000000000004040 | npy d.npy '<f4' '(5,)'
differs verify a.npy d.npy
has "  max abs   inf"
has "  max ulp   NaN"
bytes 0000803f000000400000c07f0000000000004040 | npy e.npy '<i4' '(5,)'
differs verify a.npy e.npy
bytes 0000803f000000400000c07f0000000000004040 | npy e.npy '<f4' '(5, 1)'
differs verify a.npy e.npy
# bf16: 1 and its neighbour; as plain words too
bytes 803f0080 | npy a.npy '<u2' '(2,)'
bytes 813f0000 | npy b.npy '<u2' '(2,)'
differs verify --bf16 a.npy b.npy
has "  max abs   0.0078125"
has "  max ulp   1"
differs verify a.npy b.npy
has "  max ulp   32768"
# integers, across zero
bytes ffffffffffffff7f0000000000000080 | npy a.npy '<i8' '(2,)'
bytes ffffffffffffff7f0200000000000080 | npy b.npy '<i8' '(2,)'
differs verify a.npy b.npy
has "  max ulp   2"
has "  first     [1]: -9223372036854775808, b.npy: -9223372036854775806"

# ---- the same bits for any number of threads and every set; 4,096 tokens of bf16, 32 and 8 heads of 128 ----

rm -f ./*.npy
{
    ok table --positions 0:131072 --rotary-dim 128 --dtype bf16 t.npy
    tail -c +129 t.npy | npy q.npy '<u2' '(4096, 32, 128)'
    ok table --positions -32768:32768 --rotary-dim 128 --dtype bf16 t.npy
    tail -c +129 t.npy | npy k.npy '<u2' '(4096, 8, 128)'
}
both="--q q.npy --k k.npy --bf16 --theta 500000"
ok apply $both --q-out r.npy --k-out s.npy --threads 1
ok verify $both --q-out r.npy --k-out s.npy
has "r.npy: bf16 [4096, 32, 128]"
has "s.npy: bf16 [4096, 8, 128]"
for threads in 2 4 7; do
    ok apply $both --q-out r2.npy --k-out s2.npy --threads $threads
    equal r.npy r2.npy
    equal s.npy s2.npy
done
for isa in scalar avx2 avx512 neon; do
    case " $available " in
    *" $isa "*)
        ROPE_ISA=$isa
        export ROPE_ISA
        ok apply $both --q-out r2.npy --k-out s2.npy
        unset ROPE_ISA
        equal r.npy r2.npy
        equal s.npy s2.npy
        ;;
    *) printf 'skipped: %s is not available\n' $isa ;;
    esac
done
rm -f ./*.npy

# ---- bad files: what, where, which value ----

bytes $f32 | npy q.npy '<f4' '(1, 1, 4)'
lie() { # TEXT, DICT
    bytes $f32 | dict x.npy "$2"
    bad "x.npy: $1" apply --q x.npy --q-out r.npy
    bad "x.npy: $1" verify q.npy x.npy
}
four="'fortran_order': False, 'shape': (1, 1, 4)"
lie "fortran_order: True: only C order" "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1, 4), }"
lie "fortran_order: 0: must be False" "{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1, 4), }"
lie "descr: '>f4': only" "{'descr': '>f4', $four, }"
lie "descr: '|u1': only" "{'descr': '|u1', $four, }"
lie "descr: '|O': only" "{'descr': '|O', $four, }"
lie "descr: '<c8': only" "{'descr': '<c8', $four, }"
lie "descr: '<f44': only" "{'descr': '<f44', $four, }"
lie "descr: [('a': must be a string" "{'descr': [('a', '<f4')], $four, }"
lie "header: 'descr': key missing" "{$four, }"
lie "header: 'shape': key missing" "{'descr': '<f4', 'fortran_order': False, }"
lie "header: 'fortran_order': key missing" "{'descr': '<f4', 'shape': (1, 1, 4), }"
lie "header: 'order': unknown key" "{'descr': '<f4', $four, 'order': 1}"
lie "header: 'descr': key given twice" "{'descr': '<f4', 'descr': '<f4', $four}"
lie "header: x: text after the dict" "{'descr': '<f4', $four} x"
lie "header: nothing: must be a Python dict" ""
lie "header: 'descr': '<f4': must be a Python dict" "'descr': '<f4', $four"
lie "header: nothing: must be a Python dict" "{'descr': '<f4', $four"
lie "shape: (-1, 1, 4): must be" "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 1, 4), }"
lie "shape: (1, 1, 4.0): must be" "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 4.0), }"
lie "shape: [1: must be" "{'descr': '<f4', 'fortran_order': False, 'shape': [1, 1, 4], }"
lie "shape: (4): must be" "{'descr': '<f4', 'fortran_order': False, 'shape': (4), }"
lie "shape: (1 1 4): must be" "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1 4), }"
lie "shape: (1,1,1,1,1,1,1,1,4): has more than 8" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,4)}"
lie "shape: (99999999999999999999, 1, 4): is larger" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1, 4)}"
lie "shape: [4294967296, 4294967296, 4]: is larger" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4)}"
lie "shape: [1000000000000000000, 1, 4]: is larger" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000000, 1, 4)}"
lie "shape: [100000000000000000, 1, 4]: needs 1600000000000000000 bytes, but the file holds 16" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (100000000000000000, 1, 4)}"
lie "shape: [1, 1, 3]: needs 12 bytes, but the file holds 16" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 3)}"
lie "shape: [1, 1, 5]: needs 20 bytes, but the file holds 16" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 5)}"
lie "shape: [0, 1000000000000000000, 1000000000000000000]: needs 0 bytes, but the file holds 16" \
    "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1000000000000000000, 1000000000000000000)}"
prefix() { # TEXT, PRINTF FORMAT of the whole file
    printf "$2" >x.npy
    bad "x.npy: $1" apply --q x.npy --q-out r.npy
}
prefix "size: 0 bytes: too short" ''
prefix "size: 9 bytes: too short" '\223NUMPY\001\000\166'
prefix "magic: 93 4e 55 4d 50 58: not a .npy file" '\223NUMPX\001\000\000\000'
prefix "magic: 50 4b 03 04 00 00: not a .npy file" 'PK\003\004\000\000\000\000\000\000\000\000'
prefix "version: 4.0: only" '\223NUMPY\004\000\000\000\000\000'
prefix "version: 1.1: only" '\223NUMPY\001\001\000\000\000\000'
prefix "header_len: 118: the file has only 12 bytes" '\223NUMPY\001\000\166\000{}'
prefix "header_len: 4294967295: the file has only 14 bytes" '\223NUMPY\002\000\377\377\377\377{}'
{
    printf '\223NUMPY\003\000\000\000\002\000'
    head -c 131072 /dev/zero
} >x.npy
bad "x.npy: header_len: 131072: must be at most 65536" apply --q x.npy --q-out r.npy
{
    printf '\223NUMPY\001\000\002\000'
    head -c 2 /dev/zero
} >x.npy
bad "x.npy: header: " apply --q x.npy --q-out r.npy
# versions 2.0 and 3.0, other quotes, spacing and order
for version in '\002' '\003'; do
    {
        printf '\223NUMPY'"$version"'\000\077\000\000\000'
        printf '%-62s\n' "{\"shape\":(1,1,4),\"fortran_order\":False,'descr' : '<f4'}"
        bytes $f32
    } >x.npy
    ok verify x.npy q.npy
done
# sizes beyond 32 bits (a sparse file of 4 GiB and 16 bytes)
npy x.npy '<f4' '(4,)' </dev/null
dd if=/dev/zero of=x.npy bs=1 count=16 seek=4294967424 2>/dev/null
bad "shape: [4]: needs 16 bytes, but the file holds 4294967312" verify x.npy x.npy
rm x.npy
# what is no regular file, no file, or not to be read
mkfifo x.npy
bad "x.npy: type: pipe: only regular files" apply --q x.npy --q-out r.npy
rm x.npy
mkdir x.npy
bad "x.npy: type: directory: only regular files" apply --q x.npy --q-out r.npy
bad "x.npy: type: directory: only a regular file is replaced" apply --q q.npy --q-out x.npy
rmdir x.npy
bad "/dev/zero: type: character device: only regular files" apply --q /dev/zero --q-out r.npy
bad "/dev/null: type: special file: only a regular file is replaced" apply --q q.npy --q-out /dev/null
bad "absent.npy: cannot be opened: " apply --q absent.npy --q-out r.npy
bad "absent/r.npy: cannot be written: " apply --q q.npy --q-out absent/r.npy
bad "bad?name: cannot be opened: " verify "$(printf 'bad\nname')" q.npy
ln -s q.npy link.npy
bad "link.npy: type: symbolic link: only a regular file is replaced" apply --q q.npy --q-out link.npy
rm link.npy

# ---- bad shapes, types, positions ----

bytes $f32 | npy flat.npy '<f4' '(1, 4)'
bytes $f32 | npy ints.npy '<i4' '(1, 1, 4)'
bytes 803f004040408040 | npy words.npy '<u2' '(1, 1, 4)'
bytes $f32$f32 | npy two.npy '<f4' '(2, 1, 4)'
bytes $f32 | npy batch.npy '<f4' '(1, 1, 1, 4)'
bytes 0000803f0000803f0000803f | npy odd.npy '<f4' '(1, 1, 3)'
io="--q-out r.npy"
bad "flat.npy: shape: [1, 4]: must be" apply --q flat.npy $io
bad "ints.npy: descr: i32: must be" apply --q ints.npy $io
bad "words.npy: descr: <u2: is read as bf16, with --bf16" apply --q words.npy $io
bad "--bf16: no file is <u2" apply --q q.npy $io --bf16
bad "two.npy: shape: [2, 1, 4]: batch and tokens differ" apply --q q.npy $io --k two.npy --k-out s.npy
bad "batch.npy: shape: [1, 1, 1, 4]: batch and tokens differ" apply --q q.npy $io --k batch.npy --k-out s.npy
bad "rotary_dim" apply --q odd.npy $io
bad "rotary_dim" apply --q q.npy $io --rotary-dim 3
bad "rotary" apply --q q.npy $io --rotary-dim 6
bad "rotary" apply --q q.npy $io --rotary-offset 4
bad "rotary" apply --q q.npy $io --k q.npy --k-out s.npy --rotary-offset 0 --k-rotary-offset 2
bad "factor" apply --q q.npy $io --factor 2
bad "factor" apply --q q.npy $io --scaling linear
bytes 0000807f | npy p.npy '<f4' '(1,)' # infinity
bad "p.npy: [0]: inf: a position must be" apply --q q.npy $io --positions p.npy
bytes 0000008000000000 | npy p.npy '<i8' '(1,)' # 2^31
bad "p.npy: [0]: 2147483648: a position must be" apply --q q.npy $io --positions p.npy
bytes 0000000000000080 | npy p.npy '<i4' '(2, 1)' # 0, -2^31
bad "p.npy: shape: [2, 1]: positions must be [1] or [1, 1]" apply --q q.npy $io --positions p.npy
bytes $f32$f32 | npy batch.npy '<f4' '(2, 1, 1, 4)'
bad "p.npy: [1, 0]: -2147483648: a position must be" apply --q batch.npy $io --positions p.npy
bytes 0000 | npy p.npy '<f2' '(1,)'
bad "p.npy: descr: f16: positions must be" apply --q q.npy $io --positions p.npy
bad "--positions: 2147483647: 2 positions reach beyond" apply --q two.npy $io --positions 2147483647
bad "2147483648: cannot be opened" apply --q q.npy $io --positions 2147483648
bytes 0000803f00002040 | npy freq.npy '<f4' '(2, 1)'
bad "freq.npy: shape: [2, 1]: inverse frequencies must be" apply --q q.npy $io --inv-freq freq.npy
bytes 0000803f | npy freq.npy '<f4' '(1,)'
bad "inv_freq" apply --q q.npy $io --inv-freq freq.npy
bytes 0000803f00000000 | npy freq.npy '<i4' '(2,)'
bad "freq.npy: descr: i32: inverse frequencies must be" apply --q q.npy $io --inv-freq freq.npy
ROPE_ISA=mmx
export ROPE_ISA
bad "ROPE_ISA" apply --q q.npy $io
unset ROPE_ISA

# ---- bad usage ----

bad "no command"
bad "turn: unknown command" turn
bad "--speed: unknown option" apply --speed 9
bad "-q: unknown option" apply -q q.npy
bad "--dtype: unknown option" apply --q q.npy $io --dtype f32
bad "--q: value missing" apply --q
bad "--q: '': is empty" apply --q=
bad "--bf16: 1: takes no value" apply --bf16=1
bad "--theta: given twice" apply --theta 1 --theta 2
bad "--theta: 1x: must be a finite number" apply --theta 1x
bad "--theta: 0: must be a finite number above 0" apply --theta 0
bad "--theta: inf: must be a finite number" apply --theta inf
bad "--rotary-dim: -2: must be a whole number" apply --rotary-dim -2
bad "--rotary-dim: 99999999999999999999: must be a whole number" apply --rotary-dim 99999999999999999999
bad "--max-abs: -1: must be a finite number" verify q.npy q.npy --max-abs -1
bad "--pairing: both: must be one of half interleaved" apply --pairing both
bad "--threads: 257: must be 1..256" apply --q q.npy $io --threads 257
bad "--q and --q-out: go together" apply --q q.npy
bad "--k and --k-out: go together" apply --q q.npy $io --k-out s.npy
bad "are required" apply
bad "r.npy: is --q-out too" apply --q q.npy $io --k q.npy --k-out r.npy
bad "extra: no operand expected" apply --q q.npy $io extra
bad "--scaling: does not go with --inv-freq" apply --q q.npy $io --scaling linear --factor 2 --inv-freq freq.npy
bad "exactly one output file" table --positions 0:1 --rotary-dim 4
bad "--positions: is required" table --rotary-dim 4 t.npy
bad "--rotary-dim or --head-dim: is required" table --positions 0:1 t.npy
bad "--positions: 0:x: must be START:COUNT or a file" table --positions 0:x --rotary-dim 4 t.npy
bad "reach beyond" table --positions 1:2147483648 --rotary-dim 4 t.npy
bad "a second file is required" verify q.npy
bad "--q: does not go with two files" verify q.npy q.npy --q q.npy
bad "--theta: does not go with two files" verify q.npy q.npy --theta 500000
bad "q.npy: one operand too many" verify q.npy q.npy q.npy
bad "extra: no operand expected" info extra

# ---- a failure leaves nothing behind, and what was there stays ----

# k is bad only when it is reached: both outputs go or none
bytes 0000803f | npy r.npy '<f4' '(1,)'
cp r.npy kept.npy
mkdir s.npy
bad "s.npy: type: directory" apply --q q.npy --q-out r.npy --k q.npy --k-out s.npy
equal r.npy kept.npy
rmdir s.npy
# no room: a limit of 64 KiB on files of 2 MiB
before=$(ls -A)
checks=$((checks + 1))
(
    ulimit -f 64
    exec "$rope" table --positions 0:4096 --rotary-dim 128 r.npy >../out 2>../err
)
[ $? -eq 2 ] || fail "no room: exit code"
checks=$((checks + 1))
grep -q '^rope: r.npy: cannot be written: ' ../err || fail "no room: $(cat ../err)"
check "no room: files" "$(ls -A)" "$before"
equal r.npy kept.npy
# a signal in the middle of a file of 2 GB
"$rope" table --positions 0:2000000 --rotary-dim 128 --dtype f64 r.npy >../out 2>../err &
pid=$!
tries=0
while [ "$(ls -A)" = "$before" ] && kill -0 $pid 2>/dev/null && [ $tries -lt 10000 ]; do
    tries=$((tries + 1))
done
kill -TERM $pid
wait $pid 2>/dev/null
check "a signal: exit code" $? 143
check "a signal: files" "$(ls -A)" "$before"
equal r.npy kept.npy

printf '%d checks, %d failures\n' $checks $failures
[ $failures -eq 0 ]
