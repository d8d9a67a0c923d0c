#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs x86-64 programs on an emulated CPU with AVX-512: a Debian kernel booted in Bochs.
#
#   emulate.sh --prepare                                 install Bochs, fetch a kernel
#   emulate.sh [OPTION...] -- PROGRAM [ARG...] [-- PROGRAM [ARG...]]...
#
#   --env NAME=VALUE   set a variable in the guest
#   --add FILE         put FILE into the guest, at the same path
#   --timeout SECONDS  for boot and programs together (800)
#
# All programs run in one boot, which alone takes some 15 s.  Exit status: that of the first program
# that failed, else 0; 77 when Bochs or a kernel cannot be had; 1 when the guest does not come to its end.
#
# Needs neither root nor KVM nor a mount.  The kernel is $ROPE_EMULATOR_KERNEL, or one of /boot, or one
# that `apt-get download` fetched into the user's cache; it is unpacked, never installed.
set -eu

packages="bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso cpio busybox-static"
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/librope
seconds=800
files='' settings=''

unavailable()
{
    echo "skipped: AVX-512 cannot be emulated here: $1"
    exit 77
}

# One shell word.
quoted()
{
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

find_kernel()
{
    kernel=${ROPE_EMULATOR_KERNEL-}
    for candidate in "$cache"/vmlinuz-* /boot/vmlinuz-*-cloud-amd64; do
        [ -n "$kernel" ] || [ ! -r "$candidate" ] || kernel=$candidate
    done
    [ -n "$kernel" ]
}

prepare()
{
    . "$(dirname "$0")/../cmake/packages.sh"
    # shellcheck disable=SC2086
    rope_want $packages || return 1
    ! find_kernel || return 0
    package=$(apt-cache depends linux-image-cloud-amd64 |
        sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$package" ] || return 1
    echo "Fetching the kernel of $package (27 MB)"
    unpacked=$(mktemp -d)
    (
        cd "$unpacked"
        apt-get download -qq "$package" && dpkg-deb -x ./*.deb .
    ) && mkdir -p "$cache" && cp "$unpacked"/boot/vmlinuz-* "$cache/" || echo "no kernel to be had" >&2
    rm -rf "$unpacked"
    find_kernel
}

while [ $# -gt 0 ]; do
    case $1 in
    --prepare)
        prepare
        exit
        ;;
    --env) settings="$settings export ${2%%=*}=$(quoted "${2#*=}");" ;;
    --add) files="$files$2
" ;;
    --timeout) seconds=$2 ;;
    --)
        shift
        break
        ;;
    *)
        echo "emulate.sh: unknown option $1" >&2
        exit 2
        ;;
    esac
    shift 2
done

for tool in bochs xorriso cpio busybox; do
    command -v $tool >/dev/null || unavailable "$tool is not installed"
done
for file in /usr/share/bochs/BIOS-bochs-latest /usr/share/vgabios/vgabios.bin \
    /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32; do
    [ -r $file ] || unavailable "$file is missing"
done
find_kernel || unavailable "no kernel; run tests/emulate.sh --prepare"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
root=$work/root disc=$work/disc
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/tmp" "$disc"

# ---- The guest's file system: every file at the path it has here, so that run paths stay right -------

add()
{
    [ ! -e "$root$1" ] || return 0
    mkdir -p "$root$(dirname "$1")"
    cp -L "$1" "$root$1"
}

cp "$(command -v busybox)" "$root/bin/busybox"
printf %s "$files" | while IFS= read -r file; do
    add "$(realpath -s "$file")"
done

# LD_BIND_NOW: Bochs 2.7 restores a compacted XSAVE area wrongly, so that the lazy resolver of ld.so
# would clear the upper half of vector arguments at the first call of a function.
cat >"$root/init" <<END
#!/bin/busybox sh
/bin/busybox --install /bin
export PATH=/bin HOME=/tmp TERM=dumb LD_BIND_NOW=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/null >/dev/ttyS0 2>&1
stty -F /dev/ttyS0 -onlcr
$settings
mkdir -p $(quoted "$PWD")
cd $(quoted "$PWD")
first=0
run()
{
    "\$@" && status=0 || status=\$?
    echo
    echo "[\$1: exit status \$status]"
    [ \$first != 0 ] || first=\$status
}
END

while [ $# -gt 0 ]; do
    program=$(realpath -s "$1")
    shift
    add "$program"
    # Lines of ldd that name a file: "name => /path (address)" and "/path (address)".
    for library in $(ldd "$program" | sed -n 's|^[^/]*\(/[^ ]*\) (0x[0-9a-f]*)$|\1|p'); do
        add "$library"
    done
    line="run $(quoted "$program")"
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        line="$line $(quoted "$1")"
        shift
    done
    [ $# -eq 0 ] || shift
    echo "$line" >>"$root/init"
done

# Turning onlcr on again waits until the serial line has sent everything.
cat >>"$root/init" <<'END'
echo "[guest: exit status $first]"
stty -F /dev/ttyS0 onlcr
poweroff -f
END
chmod 755 "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$disc/initrd"

# ---- The disc ----------------------------------------------------------------------------------------

# clearcpuid: what Bochs describes wrongly.  If Linux saw XSAVEC, XSAVES or PKU it would find sizes that
#   contradict each other and turn AVX off.  Programs see the CPU as it is.
# tsc_early_khz agrees with `ips` below; reboot=t lets a panic end Bochs; the rest shortens the boot.
cp "$kernel" "$disc/vmlinuz"
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$disc/"
cat >"$disc/isolinux.cfg" <<'END'
DEFAULT guest
PROMPT 0
LABEL guest
 KERNEL vmlinuz
 INITRD initrd
 APPEND console=ttyS0,115200 loglevel=1 panic=-1 reboot=t tsc_early_khz=100000 clearcpuid=xsavec,xsaves,pku,aperfmperf,fsrm,umip,rdpid nokaslr mitigations=off cryptomgr.notests=1 initcall_blacklist=load_system_certificate_list
END
xorriso -as mkisofs -quiet -o "$work/guest.iso" -b isolinux.bin -c boot.cat -no-emul-boot \
    -boot-load-size 4 -boot-info-table "$disc" 2>"$work/xorriso.log" || {
    cat "$work/xorriso.log" >&2
    exit 1
}

# ---- The machine -------------------------------------------------------------------------------------

cat >"$work/machine" <<END
config_interface: textconfig
display_library: term
cpu: model=corei7_skylake_x, count=1, ips=100000000, reset_on_triple_fault=0, ignore_bad_msrs=1
clock: sync=none
memory: guest=256, host=256
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path="$work/guest.iso", status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=/dev/fd/3
log: $work/bochs.log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
END
echo continue >"$work/commands"
set -- -q -f "$work/machine"
# Debian's Bochs starts in its own debugger and waits for a command.
if bochs --help 2>&1 | grep -q -e ' -rc '; then
    set -- "$@" -rc "$work/commands"
fi

echo "AVX-512: emulated (Bochs), kernel $(basename "$kernel")"
# Descriptor 3 is the guest's serial line.  Bochs ignores SIGTERM.
{
    TERM=linux timeout -s KILL "$seconds" bochs "$@" 3>&1 >"$work/screen" 2>&1 </dev/null || :
} | tee "$work/output" | grep --line-buffered -v 'reboot: Power down' || :

status=$(sed -n 's/^\[guest: exit status \([0-9]*\)\]$/\1/p' "$work/output" | tail -n 1)
if [ -z "$status" ]; then
    echo "the guest did not come to its end within $seconds s" >&2
    tail -n 4 "$work/screen" >&2
    exit 1
fi
[ "$status" != 77 ] || status=1 # a program that skips everything in here has proved nothing
exit "$status"
