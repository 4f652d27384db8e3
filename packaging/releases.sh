#!/usr/bin/env bash
# Installs the packages of a folder on each of Debian's releases, in roots that are kept, and tries them there. Needs root.
# usage: releases.sh PACKAGES ROOTS
set -euo pipefail
here=$(dirname "$(realpath "$0")")
packages=$1 roots=$2 architecture=$(dpkg --print-architecture)
# A release, and its Python if that is new enough for airtcp.
for release in bullseye: bookworm:3.11 trixie:3.13; do
    suite=${release%:*} python=${release#*:} root=$roots/${release%:*}
    files=("$packages"/airtcpd_*_"$architecture".deb)
    [ -z "$python" ] || files+=("$packages"/airtcp_*+python"$python"_"$architecture".deb)
    # Of a trial that has failed: apt would keep a package of the same version.
    [ ! -e "$root/.made" ] || chroot "$root" dpkg --purge airtcp airtcpd >/dev/null 2>&1 || true
    SUITE=$suite "$here/root.sh" "$root" "${files[@]}" iproute2 iputils-ping nftables
    "$here/try.sh" "$root"
done
