"""Debian's programs over a lossy link, and through what airtcp offers there; `programs.toml` lists them."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from airtcp.linux.airtcpd import Airtcpd

from .catalogue import WAYS, Program, catalogue
from .hosts import OWN
from .trial import Trial
from .ways import way

ROOT = Path(__file__).parents[3] / "target" / "programs"
"""A Debian with all programs, which `make programs` makes. Without it, those of this host are tried."""
SERVERS, PROGRAMS = catalogue()
PICTURES = 60
LOADED = f"document.title = `${{++loaded}} of {PICTURES}`"
CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=test -days 9"


def test_every_program_has_its_own_name_and_a_server() -> None:
    assert len({program.label for program in PROGRAMS}) == len(PROGRAMS)
    assert {program.server for program in PROGRAMS} == set(SERVERS)
    assert all(set(program.known) <= set(WAYS) for program in PROGRAMS)


@pytest.fixture(scope="module", params=WAYS)
def trial(
    request: pytest.FixtureRequest, airtcpd: Airtcpd, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Trial]:
    if subprocess.run(["unshare", *OWN, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("skipped: no namespaces can be made here")
    folder = tmp_path_factory.mktemp("programs")
    folder.chmod(0o755)
    make_files(folder / "files")
    with way(request.param, airtcpd, ROOT if ROOT.exists() else Path("/"), folder) as taken:
        yield Trial(taken, SERVERS, folder)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            program, id=program.label, marks=pytest.mark.live if program.core else pytest.mark.programs
        )
        for program in PROGRAMS
    ],
)
def test_program(trial: Trial, program: Program, request: pytest.FixtureRequest) -> None:
    if reason := program.known.get(trial.way.name):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=False))
    if missing := trial.missing(program):
        pytest.skip(f"not installed: {', '.join(missing)} (`make programs` installs them)")
    trial.run(program)


def make_files(folder: Path) -> None:
    """What servers serve."""
    chance = random.Random(1)
    for part in (folder, folder / "tree", folder / "pictures"):
        part.mkdir()
    (folder / "big").write_bytes(chance.randbytes(1 << 20))
    (folder / "small").write_bytes(chance.randbytes(1000))
    for n in range(1, 21):
        (folder / "tree" / str(n)).write_bytes(chance.randbytes(500 * n))
    for n in range(PICTURES):
        (folder / "pictures" / f"{n}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    pictures = "".join(f"<img src=pictures/{n}.svg onload='{LOADED}'>" for n in range(PICTURES))
    (folder / "page.html").write_text(f"<script>let loaded = 0</script>{pictures}<p>the end of the page")
    (folder / "ends.py").write_bytes(Path(__file__).with_name("ends.py").read_bytes())
    if shutil.which("openssl"):
        subprocess.run(CERTIFICATE.split(), cwd=folder, check=True, capture_output=True)
