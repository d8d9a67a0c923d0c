#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [--debootstrap]
# The packages are complete and can be used by strangers: C and C++ programs through CMake, pkg-config and a plain
# compiler line, from the unpacked Debian packages, from a tarball that was moved, from the build directory and as
# a part of another project; SLEEF is found in each way that it can lie somewhere; without it the rows are the same;
# the packages of the arm64 cross build run in qemu-user.
#
# --debootstrap installs the packages by apt in a new Debian 12 under build/package, too, and uses them there;
# needs root and the network, and a few minutes.
#
#   ROPE_PACKAGE_DIR     where to build (build/package)
#   ROPE_AARCH64_BUILD   directory of the cross build (build/tests-aarch64); left out where it is not there
set -eu
cd "$(dirname "$0")/../.."
. cmake/packages.sh
source=$PWD
mkdir -p "${ROPE_PACKAGE_DIR:-build/package}"
work=$(cd "${ROPE_PACKAGE_DIR:-build/package}" && pwd)
here=$source/tests/package
out=$work/out
rm -rf "$out" "$work/log" "$work/test"
mkdir "$work/log" "$work/test"

rope_need gcc g++ libc6-dev binutils cmake make pkg-config dpkg-dev python3 \
    libsleef-dev libjansson-dev
compilers=gcc
! command -v clang >/dev/null || compilers='gcc clang'
triplet=$(gcc -print-multiarch)

fail()
{
    echo "$*" >&2
    exit 1
}

# quietly NAME COMMAND...: shows what it says only if it fails
quietly()
{
    log=$work/log/$1
    shift
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        fail "failed: $*"
    }
}

unpack() # DIRECTORY PACKAGE...
{
    tree=$1
    shift
    for deb; do
        dpkg-deb -x "$deb" "$tree"
    done
}

# ---- What is in the packages ------------------------------------------------------------------------

# Every file of an installation is in one package, and each library has the symbols that its package says.
contents()
{
    root=$work/test/root
    for deb in "$out"/*.deb; do
        dpkg-deb -c "$deb" | sed -n 's/^[-l][^.]*\.\(.*\)/\1/p' | sed 's/ -> .*//' |
            grep -v '/copyright$'
    done | sed 's/\.gz$//' | sort >"$work/test/packed"
    quietly install env DESTDIR="$work/test/whole" cmake --install "$work/build"
    (cd "$work/test/whole" && find . ! -type d | sed 's/^\.//' | sort) >"$work/test/installed"
    diff -u "$work/test/installed" "$work/test/packed" || fail "the packages are not the installation"
    for name in librope librope-config; do
        soname=$(basename "$(find "$root" -name "$name.so.1")")
        mkdir -p "$work/test/debian"
        dpkg-deb --ctrl-tarfile "$out/${name}1"_*.deb | tar -xO ./symbols >"$work/test/debian/symbols"
        printf 'Source: librope\n\nPackage: %s1\nArchitecture: any\n' "$name" >"$work/test/debian/control"
        (cd "$work/test" && quietly "symbols.$name" dpkg-gensymbols -c4 -v1.0.0 "-p${name}1" \
            -Idebian/symbols "-e$(find "$root" -name "$soname")" -Odebian/new)
        dpkg-deb --ctrl-tarfile "$out/${name}1"_*.deb | tar -xO ./shlibs |
            grep -q "^$name 1 ${name}1 (>= " || fail "$name: no shlibs"
    done
    for package in librope1:libsleef3 librope-config1:libjansson4 librope-config1:librope1 \
        librope-dev:librope1 rope-tools:librope-config1; do
        dpkg-deb -f "$out/${package%:*}"_*.deb Depends | grep -qw "${package#*:}" ||
            fail "${package%:*} does not depend on ${package#*:}"
    done
}

# ---- How they are used -------------------------------------------------------------------------------

# by_cmake NAME COMPILER COMPONENTS CMAKE_OPTION...
by_cmake()
{
    name=$1 cc=$2 components=$3
    shift 3
    case $cc in
    gcc) cxx=g++ ;;
    clang) cxx=clang++ ;;
    esac
    build=$work/test/$name
    quietly "$name" cmake -S "$here" -B "$build" "-DCMAKE_C_COMPILER=$cc" "-DCMAKE_CXX_COMPILER=$cxx" \
        "-DCOMPONENTS=$components" "$@"
    quietly "$name" cmake --build "$build"
    for component in $(echo "$components" | tr ';' ' '); do
        for language in c cpp; do
            "$build/${component}_$language" >"$work/log/run" || fail "$name: ${component}_$language"
        done
    done
    echo "$name: $(cat "$work/log/run")"
}

# by_pkg_config NAME COMPILER DIRECTORY OF .pc FILES: nothing else is there, so that no other file is needed
by_pkg_config()
{
    for pc in rope rope-config; do
        with=''
        [ $pc = rope ] || with=-DWITH_CONFIG
        flags=$(PKG_CONFIG_LIBDIR=$3 pkg-config --cflags --libs $pc) || fail "$1: pkg-config $pc"
        # shellcheck disable=SC2086
        "$2" -std=c11 $with "$here/consumer.c" $flags "-Wl,-rpath,$3/.." -o "$work/test/$1-$pc"
        "$work/test/$1-$pc" >"$work/log/run" || fail "$1: $pc"
        # Static: what it links besides comes from the file, too.
        flags=$(PKG_CONFIG_LIBDIR=$3 pkg-config --static --cflags --libs $pc)
        # shellcheck disable=SC2046,SC2086
        "$2" -std=c11 $with "$here/consumer.c" -Wl,-Bstatic $(static_of "$flags") -o "$work/test/$1-$pc-static"
        "$work/test/$1-$pc-static" >"$work/log/run" || fail "$1: $pc, static"
        ! readelf -d "$work/test/$1-$pc-static" | grep -q 'NEEDED.*librope' || fail "$1: $pc is not static"
    done
    echo "$1: $(cat "$work/log/run")"
}

# Ours by archive, the rest as it comes.
static_of()
{
    # shellcheck disable=SC2086
    set -- $1
    for flag; do
        case $flag in
        -lrope | -lrope-config) printf '%s ' "$flag" ;;
        -l*) printf '%s ' -Wl,-Bdynamic "$flag" -Wl,-Bstatic ;;
        *) printf '%s ' "$flag" ;;
        esac
    done
    printf '%s' -Wl,-Bdynamic
}

# by_hand NAME PREFIX LIBRARY_DIRECTORY: a line as one types it, at every optimisation, static in an LTO program
by_hand()
{
    for cc in $compilers; do
        for options in -O0 -O3 '-O2 -fsanitize=undefined'; do
            # shellcheck disable=SC2086
            $cc -std=c11 -Wall -Wextra -Wpedantic -Werror $options "-I$2/include" "$here/consumer.c" \
                "-L$3" -lrope "-Wl,-rpath,$3" -o "$work/test/by-hand"
            "$work/test/by-hand" >"$work/log/run" || fail "$1: $cc $options"
        done
        for options in -O0 '-O3 -flto' '-O2 -flto -ffast-math'; do
            case $cc$options in
            clang*-flto*) # GNU ld has no plugin of clang's everywhere
                command -v ld.lld >/dev/null || continue
                options="$options -fuse-ld=lld"
                ;;
            esac
            # shellcheck disable=SC2086
            $cc -std=c11 -Wall -Wextra -Wpedantic -Werror $options "-I$2/include" "$here/consumer.c" \
                "$3/librope.a" -lsleef -lm -o "$work/test/by-hand-static"
            "$work/test/by-hand-static" >"$work/log/run" || fail "$1: static, $cc $options"
        done
    done
    echo "$1: $(cat "$work/log/run")"
}

# ---- The tree of the packages, a tarball, the build directory ------------------------------------------

unpacked()
{
    root=$work/test/root
    unpack "$root" "$out"/*.deb
    libraries=$root/usr/lib/$triplet
    for cc in $compilers; do
        by_cmake "deb-cmake-$cc" "$cc" 'rope;config;rope_static;config_static' "-DCMAKE_PREFIX_PATH=$root/usr"
        by_pkg_config "deb-pkg-config-$cc" "$cc" "$libraries/pkgconfig"
    done
    by_hand deb-by-hand "$root/usr" "$libraries"
    LD_LIBRARY_PATH=$libraries "$root/usr/bin/rope" check >"$work/log/run"
    ! readelf -d "$root/usr/bin/rope" "$libraries/librope-config.so.1" | grep -E 'RPATH|RUNPATH' ||
        fail "Debian's packages have no search path"
}

# Where SLEEF's files for building are not there the shared libraries can be used all the same, and asking for
# the static ones fails with a reason.
without_sleef_dev()
{
    set -- "-DCMAKE_PREFIX_PATH=$work/test/root/usr" -DCMAKE_DISABLE_FIND_PACKAGE_SLEEF=ON
    by_cmake deb-without-sleef-dev gcc 'rope;config' "$@"
    cmake -S "$here" -B "$work/test/refused" -DCOMPONENTS=rope_static "$@" >"$work/log/refused" 2>&1 &&
        fail "rope_static was found without SLEEF"
    tr -s ' \n' ' ' <"$work/log/refused" | grep -q 'static libraries need SLEEF' ||
        fail "no reason why rope_static is not found: $(cat "$work/log/refused")"
}

moved()
{
    mkdir -p "$work/test/tar" "$work/test/another place"
    tar -xzf "$out"/librope-*.tar.gz -C "$work/test/tar"
    mv "$work/test/tar"/librope-* "$work/test/another place/rope"
    prefix="$work/test/another place/rope"
    "$prefix/bin/rope" check >"$work/log/run" || fail "the tool of the moved tarball: $(cat "$work/log/run")"
    by_cmake moved-cmake gcc 'rope;config;rope_static' "-DCMAKE_PREFIX_PATH=$prefix"
    mv "$prefix" "$work/test/moved" # pkg-config and a space in a name are no friends
    by_pkg_config moved-pkg-config gcc "$work/test/moved/lib/pkgconfig"
}

build_tree()
{
    by_cmake build-tree gcc 'rope;config;rope_static' "-Drope_DIR=$work/build"
    ! cmake -S "$here" -B "$work/test/old" "-Drope_DIR=$work/build" -DCOMPONENTS=engine >"$work/log/old" 2>&1 ||
        fail "a component that does not exist was found"
    sed 's/find_package(rope 1.0/find_package(rope 2/' "$here/CMakeLists.txt" >"$work/test/CMakeLists.txt"
    ! cmake -S "$work/test" -B "$work/test/new" "-Drope_DIR=$work/build" -DCOMPONENTS=rope >"$work/log/new" 2>&1 ||
        fail "version 2 was found"
}

# ---- As a part of another project, static, without SLEEF -----------------------------------------------

# Its options would break exactness: the tool that it builds must give the rows of the packaged one.
subproject()
{
    build=$work/subproject
    quietly subproject cmake -S "$here/subproject" -B "$build" "-DROPE_SOURCE=$source" \
        -DBUILD_SHARED_LIBS=OFF -DROPE_WITH_SLEEF=OFF -DROPE_BUILD_TOOL=ON -DCMAKE_BUILD_TYPE=Release \
        "-DCMAKE_INSTALL_PREFIX=$work/test/host"
    quietly subproject cmake --build "$build" --parallel "$(nproc)"
    quietly subproject cmake --install "$build"
    found=$(cd "$work/test/host" && find . ! -type d)
    [ "$found" = ./bin/host ] || fail "installed with the host: $found"
    for program in host host_config; do
        "$build/$program" >"$work/log/run" || fail "the host's program $program"
    done
    ! readelf -d "$build/host" | grep -E 'NEEDED.*(rope|sleef)' || fail "the host is not static, without SLEEF"
    echo "subproject: $(cat "$work/log/run")"

    tool=$(find "$build" -name rope -type f)
    "$tool" info | grep -qx 'sleef      none' || fail "$("$tool" info)"
    python3 "$here/positions.py" "$work/test/positions.npy"
    rows=0
    for isa in $("$tool" info | sed -n 's/^available *//p'); do
        for of in "positions.npy --rotary-dim 128" "positions.npy --rotary-dim 64 --theta 1e6 --angle f32" \
            "0:8192 --rotary-dim 128 --theta 500000" "2147475455:8192 --rotary-dim 32 --angle f32"; do
            for type in f32 f16 bf16; do
                (
                    cd "$work/test"
                    export ROPE_ISA="$isa" LD_LIBRARY_PATH="$work/test/root/usr/lib/$triplet"
                    # shellcheck disable=SC2086
                    "$tool" table --positions $of --dtype $type without.npy
                    # shellcheck disable=SC2086
                    root/usr/bin/rope table --positions $of --dtype $type with.npy
                    cmp without.npy with.npy
                ) || fail "$isa $type $of: other rows without SLEEF"
                rows=$((rows + 8192))
            done
        done
    done
    echo "without SLEEF: $rows rows, the same bits"
}

# ---- Where SLEEF lies ----------------------------------------------------------------------------------

# A stand-in of the system's, at a place of its own, described in one way.
sleef_in()
{
    way=$1
    prefix=$work/test/sleef-$way
    mkdir -p "$prefix/include/here" "$prefix/libraries"
    echo '#include <sleef.h>' | gcc -E -xc - | sed -n 's/^# 1 "\(.*sleef\.h\)".*/\1/p' | head -n 1 >"$work/log/header"
    cp "$(cat "$work/log/header")" "$prefix/include/here/"
    cp -L "$(gcc -print-file-name=libsleef.so)" "$prefix/libraries/"
    set -- "-DROPE_SOURCE=$source"
    case $way in
    config)
        mkdir -p "$prefix/lib/cmake/sleef"
        cat >"$prefix/lib/cmake/sleef/sleefConfig.cmake" <<EOF
add_library(sleef::sleef SHARED IMPORTED)
set_target_properties(sleef::sleef PROPERTIES IMPORTED_LOCATION $prefix/libraries/libsleef.so
  INTERFACE_INCLUDE_DIRECTORIES $prefix/include/here)
EOF
        set -- "$@" "-DCMAKE_PREFIX_PATH=$prefix"
        ;;
    pkg-config)
        mkdir -p "$prefix/pkgconfig"
        printf 'Name: SLEEF\nDescription: SLEEF\nVersion: 3\nLibs: -L%s -lsleef\nCflags: -I%s\n' \
            "$prefix/libraries" "$prefix/include/here" >"$prefix/pkgconfig/sleef.pc"
        ;;
    plain)
        mv "$prefix/include/here/sleef.h" "$prefix/include/"
        mv "$prefix/libraries" "$prefix/lib"
        set -- "$@" "-DSLEEF_ROOT=$prefix" -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
        ;;
    esac
    quietly "sleef-$way" env PKG_CONFIG_PATH="$prefix/pkgconfig" \
        cmake -S "$here/subproject" -B "$work/test/with-$way" "$@"
    grep -rqs --include=link.txt "$prefix/lib[a-z]*/libsleef.so" "$work/test/with-$way" ||
        fail "SLEEF by $way: $(grep SLEEF "$work/log/sleef-$way")"
    version=$(sed -n 's/^#define SLEEF_VERSION_[A-Z]* *\([0-9]*\)$/\1/p' "$(cat "$work/log/header")" | paste -sd.)
    grep -q "Kernel sets: .*(SLEEF $version)" "$work/log/sleef-$way" || fail "SLEEF $version by $way: version"
    echo "SLEEF $version by $way"
}

# ---- arm64 ---------------------------------------------------------------------------------------------

aarch64()
{
    build=${ROPE_AARCH64_BUILD:-$source/build/tests-aarch64}
    if ! [ -d "$build" ] || ! command -v qemu-aarch64 >/dev/null; then
        echo "arm64: left out, no cross build in $build"
        return 0
    fi
    quietly aarch64 sh cmake/package.sh "$build" "$work/out-arm64" -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake
    root=$work/test/arm64 libraries=$work/test/arm64/usr/lib/aarch64-linux-gnu
    unpack "$root" "$work/out-arm64"/*_arm64.deb
    dpkg-deb -f "$work/out-arm64"/librope1_*_arm64.deb Depends | grep -qw libsleef3 || fail "arm64: depends"
    aarch64-linux-gnu-gcc -std=c11 "-I$root/usr/include" "$here/consumer.c" "-L$libraries" -lrope \
        "-Wl,-rpath-link,/usr/lib/aarch64-linux-gnu" -o "$work/test/arm64-shared"
    aarch64-linux-gnu-gcc -std=c11 -O3 -flto -DWITH_CONFIG "-I$root/usr/include" "$here/consumer.c" \
        "$libraries/librope-config.a" "$libraries/librope.a" -ljansson -lsleef -lm -o "$work/test/arm64-static"
    for program in shared static; do
        qemu-aarch64 -E "LD_LIBRARY_PATH=$libraries" "$work/test/arm64-$program" >"$work/log/run" || fail "arm64-$program"
    done
    echo "arm64: $(cat "$work/log/run")"
    qemu-aarch64 -E "LD_LIBRARY_PATH=$libraries" "$root/usr/bin/rope" check
}

# ---- A new Debian 12 -----------------------------------------------------------------------------------

debian()
{
    rope_need debootstrap
    chroot=$work/debian
    [ -e "$chroot/etc/debian_version" ] || rope_as_root debootstrap --variant=minbase bookworm "$chroot"
    rope_as_root mkdir -p "$chroot/rope"
    rope_as_root cp "$out"/*.deb "$here/consumer.c" "$here/consumer.cpp" "$here/CMakeLists.txt" "$chroot/rope/"
    # shellcheck disable=SC2016
    rope_as_root chroot "$chroot" sh -eu -c '
        cd /rope
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ./*.deb
        rope check
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++ cmake make pkg-config
        cc consumer.c -lrope -o plain && ./plain
        cc -DWITH_CONFIG consumer.c $(pkg-config --cflags --libs rope-config) -o by-pkg-config && ./by-pkg-config
        c++ consumer.cpp $(pkg-config --cflags --libs rope) -o by-pkg-config && ./by-pkg-config
        cmake -S . -B build "-DCOMPONENTS=rope;config" >/dev/null && cmake --build build >/dev/null
        for program in build/rope_c build/rope_cpp build/config_c build/config_cpp; do $program; done
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libsleef-dev libjansson-dev
        cmake -S . -B build "-DCOMPONENTS=rope_static;config_static" >/dev/null && cmake --build build >/dev/null
        for program in build/rope_static_c build/config_static_cpp; do $program; done
        apt-get purge -y -qq "librope*" rope-tools
        ! ls /usr/lib/*/librope* /usr/include/rope 2>/dev/null'
}

quietly package sh cmake/package.sh "$work/build" "$out"
unpacked
contents
without_sleef_dev
moved
build_tree
subproject
for way in config pkg-config plain; do
    sleef_in $way
done
aarch64
[ "${1-}" != --debootstrap ] || debian
