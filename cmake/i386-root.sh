#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# i386-root.sh DIRECTORY
# Unpacks what the library and its tests need of Debian's i386 packages into DIRECTORY, for
# i686-linux-gnu.cmake.  The system stays as it is: dpkg learns of no other architecture.  Status 1 if they
# cannot be had.
set -eu
root=$1
packages='libsleef-dev libsleef3 libjansson-dev libjansson4 libcmocka-dev libcmocka0 libmpfr-dev libmpfr6
    libgmp-dev libgmp10'
mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
root=$(cd "$root" && pwd)
[ ! -e "$root/complete" ] || exit 0
: >"$root/apt/status"

apt()
{
    apt-get -qq -o Dir::State="$root/apt" -o Dir::State::status="$root/apt/status" -o Dir::Cache="$root/apt/cache" \
        -o APT::Architecture=i386 -o APT::Architectures=i386 -o APT::Sandbox::User=root "$@"
}

# One unreachable source among several is no reason to stop.
apt update || echo "apt-get update failed; trying with what is known" >&2
cd "$root/apt"
# shellcheck disable=SC2086
apt download $packages
for deb in ./*.deb; do
    dpkg-deb -x "$deb" "$root"
done
rm -r "$root/apt"
: >"$root/complete"
