#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# package.sh BUILD_DIRECTORY OUTPUT_DIRECTORY [CMAKE_OPTION...]
# Builds everything that is installed, then its Debian packages and its tarball, into OUTPUT_DIRECTORY.
# For another architecture: -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake
set -eu
[ $# -ge 2 ] || {
    sed -n '3,5s/^# //p' "$0" >&2
    exit 2
}
build=$1 output=$2
shift 2
source=$(cd "$(dirname "$0")/.." && pwd)

# Debian's libraries lie in a directory of their architecture and name no search path; a tarball goes
# anywhere and finds its libraries from where it is.
pack()
{
    generator=$1
    shift
    cmake -S "$source" -B "$build" --no-warn-unused-cli -DROPE_BUILD_STATIC=ON "$@" >"$build.log" || {
        cat "$build.log" >&2
        exit 1
    }
    cmake --build "$build" --parallel "$(nproc)" >"$build.log" || {
        cat "$build.log" >&2
        exit 1
    }
    (cd "$build" && cpack -G "$generator" -B "$output")
}

mkdir -p "$output"
output=$(cd "$output" && pwd)
pack TGZ "$@" -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_SKIP_INSTALL_RPATH=OFF
triplet=$(sed -n 's/^ *set(CMAKE_LIBRARY_ARCHITECTURE "\(.*\)")$/\1/p' "$build"/CMakeFiles/*/CMakeCCompiler.cmake)
DEB_HOST_ARCH=$(dpkg-architecture -t"$triplet" -qDEB_HOST_ARCH)
export DEB_HOST_ARCH # whose libraries dpkg-shlibdeps looks for
pack DEB "$@" -DCMAKE_INSTALL_PREFIX=/usr "-DCMAKE_INSTALL_LIBDIR=lib/$triplet" -DCMAKE_SKIP_INSTALL_RPATH=ON

# What Debian's rules ask for besides and CPack has no variable for.
finish()
{
    case $1 in
    */rope-tools_*) field='Multi-Arch: foreign' ;;
    *) field='Multi-Arch: same' ;;
    esac
    tree=$output/_CPack_Packages/deb
    dpkg-deb -R "$1" "$tree"
    sed -i "/^Architecture:/a $field" "$tree/DEBIAN/control"
    if [ -e "$tree/DEBIAN/shlibs" ]; then
        rm "$tree/DEBIAN/postinst" "$tree/DEBIAN/postrm"
        echo "activate-noawait ldconfig" >"$tree/DEBIAN/triggers"
    fi
    find "$tree/usr/share" -path '*/man/*' -type f -exec gzip -9n {} +
    (cd "$tree" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
    dpkg-deb --root-owner-group -b "$tree" "$1" >/dev/null
    rm -r "$tree"
}
for deb in "$output"/*_"$DEB_HOST_ARCH".deb; do
    finish "$deb"
done
rm -rf "$output/_CPack_Packages" "$build.log"
