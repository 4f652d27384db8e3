#!/usr/bin/env bash
# Builds the Debian packages airtcpd and airtcp. usage: debian.sh WHEEL OUT PYTHON ...
# airtcpd is for each architecture of which static.sh has made OUT/airtcpd-ARCHITECTURE. airtcp is for this one and for each
# PYTHON (3.11): it includes its Python packages, in a folder of its own, which differ between Python's versions.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
wheel=$(realpath "$1") out=$(realpath -m "$2")
shift 2
python=$here/../.venv/bin/python
version=$("$python" -c 'import airtcp; print(airtcp.__version__)')
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out"/airtcp_*.deb "$out"/airtcpd_*.deb
"$out/airtcpd-$(uname -m)" generate "$work/made" >/dev/null
"$python" "$here/manual.py" "$work/made"
gzip -n9 "$work"/made/man*/*

# Contents of both: man pages, completions, licences.
beside() { # PROGRAM SECTION ROOT
    install -d "$3/usr/share/man/man$2" "$3/usr/share/doc/$1"
    install -m 644 "$work/made/man$2"/*.gz "$3/usr/share/man/man$2/"
    install -Dm 644 "$work/made/bash/$1.bash" "$3/usr/share/bash-completion/completions/$1"
    install -Dm 644 "$work/made/zsh/_$1" "$3/usr/share/zsh/vendor-completions/_$1"
    install -Dm 644 "$work/made/fish/$1.fish" "$3/usr/share/fish/vendor_completions.d/$1.fish"
    cat "$here/../LICENSE-MIT" "$here/../LICENSE-APACHE" >"$3/usr/share/doc/$1/copyright"
    gzip -nc9 "$here/../CHANGELOG.md" >"$3/usr/share/doc/$1/changelog.gz"
}

control() { # ROOT PACKAGE VERSION ARCHITECTURE COMPRESSION RECOMMENDS DESCRIPTION [DEPENDS]
    install -d "$1/DEBIAN"
    cat >"$1/DEBIAN/control" <<END
Package: $2
Version: $3
Architecture: $4
Maintainer: airtcp
Section: net
Priority: optional
${8:+Depends: $8
}Recommends: $6
Installed-Size: $(du -sk "$1" | cut -f1)
Description: $7
END
    dpkg-deb --root-owner-group -Z"$5" -z6 --build "$1" "$out" >/dev/null
    echo "$out/$2_$3_$4.deb"
}

# Debian 11's dpkg cannot read zstd.
airtcpd() { # PROGRAM ARCHITECTURE
    local root=$work/airtcpd-$2
    install -Dm 755 "$1" "$root/usr/bin/airtcpd"
    beside airtcpd 8 "$root"
    install -d "$root/usr/lib/systemd/system"
    install -m 644 "$here"/systemd/*.service "$root/usr/lib/systemd/system/"
    install -Dm 644 "$here/wireshark/airtcp-circuit.lua" "$root/usr/share/airtcpd/airtcp-circuit.lua"
    control "$root" airtcpd "$version" "$2" xz "nftables, iproute2" \
        "TCP that is fast over lossy links, on an unpatched kernel
 Congestion controls and timers as eBPF programs, packet control, a split proxy,
 TCP circuits, and an emulator of lossy links."
}

airtcp() { # PYTHON
    local root=$work/airtcp-$1 next=${1%.*}.$((${1#*.} + 1))
    "$python" -m pip install --quiet --disable-pip-version-check --no-compile --only-binary=:all: --python-version "$1" \
        --target "$root/usr/lib/airtcp" "$wheel"
    rm -rf "$root/usr/lib/airtcp/bin"
    find "$root/usr/lib/airtcp" -type d -name tests -prune -exec rm -rf {} +
    install -d "$root/usr/bin" "$root/DEBIAN"
    cat >"$root/usr/bin/airtcp" <<'END'
#!/usr/bin/python3
import sys

sys.path.insert(0, "/usr/lib/airtcp")
from airtcp.cli import main

main()
END
    # The Python that will run it compiles it; this host may not have that one.
    cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
python3 -m compileall -q --invalidation-mode unchecked-hash /usr/lib/airtcp || true
END
    cat >"$root/DEBIAN/prerm" <<'END'
#!/bin/sh
find /usr/lib/airtcp -name __pycache__ -prune -exec rm -rf {} +
END
    chmod 755 "$root/usr/bin/airtcp" "$root"/DEBIAN/*
    beside airtcp 1 "$root"
    control "$root" airtcp "$version+python$1" "$(dpkg --print-architecture)" zstd \
        "airtcpd (= $version), iperf3, iputils-ping, iproute2, kmod" \
        "which TCP is best on a lossy link, by how much, and why
 Simulates TCPs over lossy links, fits scenarios to measurements, advises what to
 deploy, applies it, checks it, and undoes it." \
        "python3 (>= $1), python3 (<< $next)"
}

for program in "$out"/airtcpd-*; do
    case $program in
    *-x86_64) airtcpd "$program" amd64 ;;
    *-aarch64) airtcpd "$program" arm64 ;;
    esac
done
for series in "$@"; do airtcp "$series"; done
