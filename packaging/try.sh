#!/usr/bin/env bash
# Tries an OCI image like a container engine: its layers in a clean root, in namespaces of its own. Needs root.
# usage: try.sh IMAGE.tar
set -euo pipefail
image=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/image" "$work/root"
tar -C "$work/image" -xf "$image"
python3 - "$work" <<'END'
import hashlib, json, subprocess, sys
from pathlib import Path

work = Path(sys.argv[1])


def blob(described):
    algorithm, digest = described["digest"].split(":")
    path = work / "image/blobs" / algorithm / digest
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (found, path.stat().st_size) == (digest, described["size"]), f"{path} is not what its name says"
    return path


index = json.loads((work / "image/index.json").read_text())
manifest = json.loads(blob(index["manifests"][0]).read_text())
config = json.loads(blob(manifest["config"]).read_text())
assert len(config["rootfs"]["diff_ids"]) == len(manifest["layers"])
for layer in manifest["layers"]:
    subprocess.run(["tar", "-C", work / "root", "-xzf", blob(layer)], check=True)
END
cat >"$work/root/tmp/try.sh" <<'END'
set -euo pipefail
mount -t proc proc /proc
mount -t sysfs sysfs /sys
ip link set lo up
cd /tmp
airtcp --version
airtcpd --version
airtcp compare --seeds 2 --duration 5s --schemes cubic,bbr --out /tmp/out | tail -3
airtcpd link --shell --set wireless.delay=5ms --quiet --every 0 -- \
    sh -c 'ping -c 3 -i 0.2 $AIRTCP_LINK_FAR' | tail -2
sysctl=/proc/sys/net/ipv4/tcp_congestion_control
before=$(cat $sysctl)
[ "$before" = reno ] && other=bbr || other=reno
airtcp apply $other --yes
[ "$(cat $sysctl)" = $other ]
airtcp undo
[ "$(cat $sysctl)" = "$before" ]
for page in man1/airtcp.1.gz man1/airtcp-advise.1.gz man8/airtcpd.8.gz man8/airtcpd-cc-load.8.gz; do
    [ -s /usr/share/man/$page ]
done
for program in airtcp airtcpd; do
    bash -c ". /usr/share/bash-completion/completions/$program; complete -p $program" >/dev/null
done
dpkg --purge airtcp airtcpd >/dev/null
rest=$(find / -xdev -name '*airtcp*' -not -path '/tmp/*' -not -path '/proc/*' -not -path '/sys/*' \
    -not -path '/run/*')
[ -z "$rest" ] || { echo "left by the packages: $rest"; exit 1; }
END
# As in a container, / must be a mount point.
unshare --net --mount --pid --fork --propagation private sh -c \
    'mount --bind "$1" "$1" && exec chroot "$1" bash /tmp/try.sh' sh "$work/root"
echo "the packages work in a clean root, and leave nothing when they are purged"
