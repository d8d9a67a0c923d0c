# SPDX-License-Identifier: Apache-2.0
# Debian packages for our scripts, to be sourced:  . cmake/packages.sh
#
#   rope_need PACKAGE...   makes sure that all are installed; ends the script when that is impossible
#   rope_want PACKAGE...   tries the same; status 1 when it is impossible
#
# Where nothing is missing neither apt nor sudo is called.  PACKAGE may be name:arm64; that architecture
# is then made known to dpkg.  On a system without dpkg both trust the user.

rope_index_is_fresh=no

# The packages among the arguments that are not installed.
rope_missing()
{
    for rope_package; do
        case $rope_package in
        *:*) rope_architecture=${rope_package#*:} ;;
        *) rope_architecture=$(dpkg --print-architecture) ;;
        esac
        # The name alone also matches the package of another architecture, and one that dpkg knows as
        # not installed.
        # shellcheck disable=SC2016
        case " $(dpkg-query -W -f '${Architecture}:${db:Status-Status} ' "$rope_package" 2>/dev/null)" in
        *" $rope_architecture:installed "* | *" all:installed "*) ;;
        *) printf '%s ' "$rope_package" ;;
        esac
    done
}

rope_as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif ! command -v sudo >/dev/null; then
        echo "neither root nor sudo: cannot run $*" >&2
        return 1
    elif [ -t 0 ]; then
        sudo "$@"
    else # nobody is there to type a password
        sudo -n "$@"
    fi
}

rope_want()
{
    command -v dpkg-query >/dev/null || return 0
    rope_list=$(rope_missing "$@")
    [ -n "$rope_list" ] || return 0
    echo "Installing: $rope_list"
    case $rope_list in
    *:arm64*)
        if ! dpkg --print-foreign-architectures | grep -qx arm64; then
            rope_as_root dpkg --add-architecture arm64 || return 1
            rope_index_is_fresh=no
        fi
        ;;
    esac
    if [ $rope_index_is_fresh = no ]; then
        # One unreachable source among several is no reason to stop.
        rope_as_root apt-get update -qq || echo "apt-get update failed; trying with what is known" >&2
        rope_index_is_fresh=yes
    fi
    # shellcheck disable=SC2086
    rope_as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $rope_list
}

rope_need()
{
    rope_want "$@" || {
        echo "please install: $rope_list" >&2
        exit 1
    }
}
