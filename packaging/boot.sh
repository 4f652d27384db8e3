#!/usr/bin/env bash
# Tries what `airtcp apply --persistent` writes: boots a root with its own systemd and kernel three times in QEMU.
# usage: boot.sh ROOT SCHEME. ROOT is a Debian root with airtcp and airtcpd installed, as root.sh makes it; it gets systemd and
# a kernel. Needs root, qemu-system-x86_64 and mkfs.ext4, and a quarter of an hour: QEMU interprets.
set -euo pipefail
root=$(realpath "$1") scheme=$2
for program in qemu-system-x86_64 mkfs.ext4; do
    command -v $program >/dev/null || { echo "skipped: no $program here (qemu-system-x86, e2fsprogs)"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Concord needs Linux 6.10: the newest kernel of the release and of its backports.
if ! ls "$root"/boot/vmlinuz-* >/dev/null 2>&1; then
    . "$root/etc/os-release"
    site=$(sed -n 's/^deb \(\[.*\] \)\?\(http[^ ]*\) .*/\2/p' "$root/etc/apt/sources.list" | head -1)
    echo "deb $site $VERSION_CODENAME-backports main" >"$root/etc/apt/sources.list.d/backports.list"
    chroot "$root" sh -c "export DEBIAN_FRONTEND=noninteractive
        apt-get update -q && apt-get install -y -q --no-install-recommends systemd-sysv udev kmod initramfs-tools zstd &&
        apt-get install -y -q --no-install-recommends -t $VERSION_CODENAME-backports linux-image-amd64" >"$work/apt" 2>&1 ||
        { tail -20 "$work/apt"; exit 1; }
fi

# Each boot does its part, and says `boot N: …` on the console.
cat >"$root/usr/local/sbin/try-boot" <<'END'
#!/bin/bash
exec >/dev/ttyS0 2>&1
scheme=$(sed 's/.*scheme=\([^ ]*\).*/\1/' /proc/cmdline) part=$(sed 's/.*part=\([^ ]*\).*/\1/' /proc/cmdline)
control=${scheme//-/_}
sysctl=/proc/sys/net/ipv4/tcp_congestion_control
say() { echo "boot $part: $*"; }
expect() { if [ "$2" = "$3" ]; then say "ok $1 is $3"; else say "FAILED $1 is $2, not $3"; fi; }
of_a_new_connection() {
    python3 -c 'import socket; s = socket.socket(); print(s.getsockopt(6, 13, 16).rstrip(b"\0").decode())'
}
case $part in
1)
    cp $sysctl /var/lib/default-control
    airtcpd cc load "$scheme" --default
    expect "the default, loaded by hand," "$(cat $sysctl)" "$control"
    airtcp apply "$scheme" --persistent --yes || say "FAILED apply"
    ;;
2)
    expect "the unit" "$(systemctl is-active airtcpd-cc)" active
    expect "the default" "$(cat $sysctl)" "$control"
    expect "the control of a new connection" "$(of_a_new_connection)" "$control"
    airtcp undo || say "FAILED undo"
    ;;
3)
    expect "the unit" "$(systemctl is-enabled airtcpd-cc)" disabled
    expect "the default" "$(cat $sysctl)" "$(cat /var/lib/default-control)"
    ;;
esac
systemctl --failed --no-legend
say done
systemctl poweroff
END
chmod 755 "$root/usr/local/sbin/try-boot"
cat >"$root/etc/systemd/system/try-boot.service" <<'END'
[Unit]
Description=A part of packaging/boot.sh
After=multi-user.target

[Service]
Type=oneshot
ExecStart=/usr/local/sbin/try-boot
END
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf ../try-boot.service "$root/etc/systemd/system/multi-user.target.wants/"

size=$(($(du -sm "$root" | cut -f1) * 5 / 4 + 200))
mkfs.ext4 -q -d "$root" "$work/disk" "${size}M"
# A getty would hang up what the parts write to.
alone=systemd.mask=serial-getty@ttyS0.service
kernel=$(ls "$root"/boot/vmlinuz-* | sort -V | tail -1)
for part in 1 2 3; do
    # The guest's clock counts instructions, so that its timers are right however busy this host is.
    timeout 900 qemu-system-x86_64 -machine q35 -accel tcg,thread=single -icount shift=1,align=off,sleep=off -smp 1 -cpu max \
        -m 1024 -nodefaults -no-user-config -display none -no-reboot -nic none \
        -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" -device virtio-rng-pci -serial "file:$work/console" \
        -kernel "$kernel" -initrd "${kernel/vmlinuz/initrd.img}" \
        -append "root=/dev/vda rw console=ttyS0 quiet loglevel=4 systemd.show_status=0 $alone part=$part scheme=$scheme"
    tr -d '\r' <"$work/console" | grep -a "^boot $part: " || tail -20 "$work/console"
    tr -d '\r' <"$work/console" | grep -qa "^boot $part: done" || { tail -20 "$work/console"; exit 1; }
    ! grep -qa "^boot $part: FAILED" "$work/console" || exit 1
done
echo "after a reboot, $scheme is what was applied; after undo and another one, nothing is left"
