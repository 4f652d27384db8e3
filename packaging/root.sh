#!/usr/bin/env bash
# Makes a clean root of this host's Debian and installs packages in it. Needs root. usage: root.sh FOLDER PACKAGE.deb ...
# apt checks the packages' dependencies: a missing one fails here.
set -euo pipefail
folder=$1
shift
. /etc/os-release
site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' "Codename: $VERSION_CODENAME" | head -1)
[ -n "$site" ] || site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -1)

if ! [ -e "$folder/.clean" ]; then
    rm -rf "$folder"
    debootstrap --variant=minbase "$VERSION_CODENAME" "$folder" "$site" >"$folder.log" 2>&1 || { tail -5 "$folder.log"; exit 1; }
    touch "$folder/.clean"
fi
cp /etc/resolv.conf "$folder/etc/resolv.conf"
for name in /etc/apt/apt.conf.d/*proxy*; do [ -e "$name" ] && cp "$name" "$folder/etc/apt/apt.conf.d/"; done
install -d "$folder/packages"
cp "$@" "$folder/packages/"
chroot "$folder" sh -c 'export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >/dev/null
    apt-get install -y -q /packages/*.deb >/tmp/log 2>&1 || { tail -20 /tmp/log; exit 1; }
    apt-get clean; rm -rf /packages /tmp/log /var/lib/apt/lists/* /var/cache/debconf /var/log/*'
rm -f "$folder/.clean"
