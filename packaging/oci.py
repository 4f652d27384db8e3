"""An OCI image of a folder, as one file that podman and skopeo load.

usage: oci.py ROOT NAME:TAG OUT.tar
The layout is that of the OCI image specification: oci-layout, index.json, and blobs by their SHA-256.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
REF = "org.opencontainers.image.ref.name"
EPOCH = os.environ.get("SOURCE_DATE_EPOCH", "0")


def main(root: Path, name: str, out: Path) -> None:
    """Writes the layout and packs it."""
    with TemporaryDirectory(dir=out.parent) as text:
        layout = Path(text)
        blobs = layout / "blobs/sha256"
        blobs.mkdir(parents=True)
        layer, diff_id = _layer(root, blobs)
        created = datetime.fromtimestamp(int(EPOCH), UTC).isoformat()
        config = {
            "created": created,
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {
                "Entrypoint": ["airtcp"],
                "Cmd": ["--help"],
                "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
            },
            "rootfs": {"type": "layers", "diff_ids": [diff_id]},
            "history": [{"created": created, "created_by": "make package"}],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _json(config, CONFIG, blobs),
            "layers": [layer],
        }
        described = {**_json(manifest, MANIFEST, blobs), "annotations": {REF: name}}
        (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}\n')
        (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described]}) + "\n")
        _tar(layout, out)


def _layer(root: Path, blobs: Path) -> tuple[dict[str, Any], str]:
    """Returns the layer's description, and the digest of its uncompressed contents."""
    draft, packed = blobs / "layer.tar", blobs / "layer.tar.gz"
    _tar(root, draft)
    with draft.open("rb") as plain:
        diff_id = hashlib.file_digest(plain, "sha256").hexdigest()
        plain.seek(0)
        with packed.open("wb") as file, gzip.GzipFile("", "wb", 6, file, 0) as zipped:
            shutil.copyfileobj(plain, zipped, 1 << 20)
    draft.unlink()
    with packed.open("rb") as made:
        digest = hashlib.file_digest(made, "sha256").hexdigest()
    size = packed.stat().st_size
    packed.rename(blobs / digest)
    return {"mediaType": LAYER, "digest": f"sha256:{digest}", "size": size}, f"sha256:{diff_id}"


def _json(document: dict[str, Any], kind: str, blobs: Path) -> dict[str, Any]:
    content = json.dumps(document).encode()
    digest = hashlib.sha256(content).hexdigest()
    (blobs / digest).write_bytes(content)
    return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(content)}


def _tar(folder: Path, out: Path) -> None:
    """Equal files give equal bytes."""
    order = ["--sort=name", "--numeric-owner", f"--clamp-mtime --mtime=@{EPOCH}", "--format=posix"]
    stable = ["--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"]
    words = [word for each in order for word in each.split()]
    subprocess.run(["tar", "-C", folder, *words, *stable, "-cf", out, "."], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
