#!/usr/bin/env bash
# Builds the Debian packages airtcpd and airtcp. usage: debian.sh AIRTCPD WHEEL OUT
# airtcp includes its Python packages, in a folder of its own, for the Python version that builds it.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
airtcpd=$(realpath "$1") wheel=$(realpath "$2") out=$(realpath -m "$3")
python=$here/../.venv/bin/python
version=$("$python" -c 'import airtcp; print(airtcp.__version__)')
architecture=$(dpkg --print-architecture)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
rm -f "$out"/airtcp_*.deb "$out"/airtcpd_*.deb
"$airtcpd" generate "$work/made" >/dev/null
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

control() { # ROOT PACKAGE DEPENDS RECOMMENDS DESCRIPTION
    install -d "$1/DEBIAN"
    cat >"$1/DEBIAN/control" <<END
Package: $2
Version: $version
Architecture: $architecture
Maintainer: airtcp
Section: net
Priority: optional
Depends: $3
Recommends: $4
Installed-Size: $(du -sk "$1" | cut -f1)
Description: $5
END
    dpkg-deb --root-owner-group -Zzstd -z6 --build "$1" "$out" >/dev/null
    echo "$out/$2_${version}_$architecture.deb"
}

root=$work/airtcpd
install -Dm 755 "$airtcpd" "$root/usr/bin/airtcpd"
strip "$root/usr/bin/airtcpd"
beside airtcpd 8 "$root"
install -d "$root/lib/systemd/system"
install -m 644 "$here"/systemd/*.service "$root/lib/systemd/system/"
install -Dm 644 "$here/wireshark/airtcp-circuit.lua" "$root/usr/share/airtcpd/airtcp-circuit.lua"
glibc=$(objdump -T "$airtcpd" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
control "$root" airtcpd "libc6 (>= ${glibc#GLIBC_})" "nftables, iproute2" \
    "TCP that is fast over lossy links, on an unpatched kernel
 Congestion controls and timers as eBPF programs, packet control, a split proxy,
 TCP circuits, and an emulator of lossy links."

root=$work/airtcp
"$python" -m pip install --quiet --disable-pip-version-check --no-compile --target "$root/usr/lib/airtcp" "$wheel"
rm -rf "$root/usr/lib/airtcp/bin"
find "$root/usr/lib/airtcp" -type d -name tests -prune -exec rm -rf {} +
"$python" -m compileall -q --invalidation-mode unchecked-hash -s "$root" "$root/usr/lib/airtcp" || true
install -d "$root/usr/bin"
series=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cat >"$root/usr/bin/airtcp" <<END
#!/usr/bin/python3
import sys

sys.path.insert(0, "/usr/lib/airtcp")
from airtcp.cli import main

main()
END
chmod 755 "$root/usr/bin/airtcp"
beside airtcp 1 "$root"
control "$root" airtcp "python3 (>= $series), python3 (<< ${series%.*}.$((${series#*.} + 1)))" \
    "airtcpd (= $version), iperf3, iputils-ping, iproute2, kmod" \
    "which TCP is best on a lossy link, by how much, and why
 Simulates TCPs over lossy links, fits scenarios to measurements, advises what to
 deploy, applies it, checks it, and undoes it."
