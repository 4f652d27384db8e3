#!/usr/bin/env bash
# Installs Debian packages for commands and files that are missing.
# usage: install-tools.sh COMMAND=PACKAGE /FILE=PACKAGE ...
# If it cannot (not root, no apt-get, no network), it says what will be skipped, and succeeds.
set -euo pipefail

missing=()
is_there() {
    case $1 in
        /*) [ -e "$1" ] ;;
        *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
    esac
}
for pair in "$@"; do
    is_there "${pair%%=*}" || missing+=("${pair#*=}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "not installed, what needs it is skipped: ${missing[*]} (on Debian: apt-get install ${missing[*]})"
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null >/dev/null; }
echo "installing ${missing[*]}"
install 2>/dev/null || { apt-get update -q >/dev/null && install; } \
    || echo "could not be installed, what needs it is skipped: ${missing[*]}"
