#!/usr/bin/env bash
# Tries the packages in a root, in namespaces of its own, and purges them. Needs root. usage: try.sh IMAGE.tar|ROOT
# An OCI image is unpacked as a container engine does, its layers into a clean root. ROOT is one of root.sh's, with airtcpd and
# perhaps airtcp installed.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -d "$1" ]; then
    root=$(realpath "$1")
else
    root=$work/root
    # Podman reads images with the same library.
    if command -v skopeo >/dev/null; then
        skopeo --insecure-policy copy -q "oci-archive:$1" "dir:$work/copy"
        echo "skopeo reads the image"
    else
        echo "skopeo is not here: the image is unpacked, and no container engine has read it"
    fi
    mkdir "$work/image" "$root"
    tar -C "$work/image" -xf "$1"
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
fi
cat >"$root/tmp/try.sh" <<'END'
set -euo pipefail
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
cd /tmp
. /etc/os-release
echo "$PRETTY_NAME"

try_airtcp() {
    airtcp --version
    airtcp compare --seeds 2 --duration 5s --schemes cubic,bbr --out /tmp/out | tail -3
    local sysctl=/proc/sys/net/ipv4/tcp_congestion_control before other
    before=$(cat $sysctl)
    [ "$before" = reno ] && other=bbr || other=reno
    airtcp apply $other --yes
    [ "$(cat $sysctl)" = $other ]
    airtcp undo
    [ "$(cat $sysctl)" = "$before" ]
}

try_airtcpd() {
    airtcpd --version
    airtcpd doctor
    airtcpd link --shell --set wireless.delay=5ms --quiet --every 0 -- \
        sh -c 'ping -c 3 -i 0.2 $AIRTCP_LINK_FAR' | tail -2
    airtcpd cc load veno
    airtcpd cc unload veno
}

programs=(airtcpd)
! command -v airtcp >/dev/null || programs+=(airtcp)
for program in "${programs[@]}"; do
    "try_$program"
    for page in /usr/share/man/man?/"$program"*; do [ -s "$page" ]; done
    bash -c ". /usr/share/bash-completion/completions/$program; complete -p $program" >/dev/null
done
dpkg --purge "${programs[@]}" >/dev/null
rm -rf /tmp/out /tmp/try.sh
rest=$(find / -xdev -name '*airtcp*' -not -path '/tmp/*' -not -path '/proc/*' -not -path '/sys/*' \
    -not -path '/run/*')
[ -z "$rest" ] || { echo "left by the packages: $rest"; exit 1; }
END
# As in a container, / must be a mount point.
unshare --net --mount --pid --fork --propagation private sh -c \
    'mount --bind "$1" "$1" && exec chroot "$1" bash /tmp/try.sh' sh "$root"
echo "the packages work in a clean root, and leave nothing when they are purged"
