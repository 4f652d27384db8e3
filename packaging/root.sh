#!/usr/bin/env bash
# Makes a root of Debian and installs packages in it: files, or Debian's by name. Needs root. Made once, it only takes
# what is missing. usage: [SUITE=trixie] root.sh FOLDER PACKAGE[.deb] ... Without a suite, it is this host's.
# apt checks the packages' dependencies: a missing one fails here.
set -euo pipefail
# What is mounted here vanishes with this process.
[ "${1:-}" = --mounts ] || exec unshare --mount "$0" --mounts "$@"
folder=$2
shift 2
. /etc/os-release
site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" | head -1)
[ -n "$site" ] || site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -1)

if ! [ -e "$folder/.made" ]; then
    rm -rf "$folder"
    mkdir -p "$(dirname "$folder")"
    debootstrap --variant=minbase "${SUITE:-$VERSION_CODENAME}" "$folder" "$site" >"$folder.log" 2>&1 || { tail -5 "$folder.log"; exit 1; }
    # Nothing that is installed starts a daemon.
    printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
    chmod +x "$folder/usr/sbin/policy-rc.d"
    touch "$folder/.made"
fi
cp /etc/resolv.conf "$folder/etc/resolv.conf"
for name in /etc/apt/apt.conf.d/*proxy*; do [ -e "$name" ] && cp "$name" "$folder/etc/apt/apt.conf.d/"; done
mount -t proc proc "$folder/proc"
install -d "$folder/packages"
packages=()
for package in "$@"; do
    if [ -e "$package" ]; then
        cp "$package" "$folder/packages/"
        package=/packages/${package##*/}
    fi
    packages+=("$package")
done
chroot "$folder" sh -c 'export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >/dev/null
    apt-get install -y -q --no-install-recommends "$@" >/tmp/log 2>&1 || { tail -20 /tmp/log; exit 1; }
    apt-get clean; rm -rf /packages /tmp/log /var/lib/apt/lists/* /var/cache/debconf /var/log/*' sh "${packages[@]}"
