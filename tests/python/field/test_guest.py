"""Guests: what they have in their memory, what they leave, and that the same run gives the same packets."""

from __future__ import annotations

import io
import lzma
import os
import select
import shutil
import signal
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest

import airtcp
from airtcp.linux.airtcpd import Airtcpd
from airtcp.linux.error import LinuxError
from airtcp.linux.guest import guest, modules, programs
from airtcp.linux.runs import Job, KernelRun, run_all

KERNEL = "6.1"
KERNELS = Path(os.environ.get(guest.VARIABLE) or Path(__file__).parents[3] / "target/kernels")

BOOT = """
import sys
from pathlib import Path
from airtcp.linux.guest import machine

machine.boot(Path("image"), Path("initrd"), Path(sys.argv[1]), 600)
"""


def module(folder: Path, name: str, *needs: str, suffix: str = ".ko") -> None:
    content = b"\0license=GPL\0depends=" + ",".join(needs).encode() + b"\0name=x\0"
    (folder / f"{name}{suffix}").write_bytes(lzma.compress(content) if suffix == ".ko.xz" else content)


def counts(found: KernelRun) -> dict[str, object]:
    (flow,) = found.run["flows"]
    return {key: value for key, value in flow.items() if not isinstance(value, float)}


def test_modules_come_after_what_they_need(tmp_path: Path) -> None:
    module(tmp_path, "nft_tproxy", "nf-tables", "nf_tproxy_ipv4")
    module(tmp_path, "nf-tables", "nfnetlink", suffix=".ko.xz")
    for name in ("nfnetlink", "nf_tproxy_ipv4", "veth", "not_needed"):
        module(tmp_path, name)
    names = [name for name, _ in modules.chosen(tmp_path)]
    assert names == ["veth", "nfnetlink", "nf_tables", "nf_tproxy_ipv4", "nft_tproxy"]


@pytest.mark.skipif(not shutil.which("ldd"), reason="needs ldd")
def test_a_program_has_its_name_in_a_guest_whatever_its_name_is_here() -> None:
    found = programs.with_libraries(Path("/bin/sh"), "airtcpd")
    assert found["usr/bin/airtcpd"].startswith(b"\x7fELF")
    assert any("libc.so" in path for path in found)


def test_a_host_that_cannot_have_guests_is_told_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name.startswith("qemu") else f"/bin/{name}")
    with pytest.raises(LinuxError, match=r"apt-get install .*qemu-system-x86"):
        guest.guest(KERNEL, Airtcpd(Path("airtcpd"), "0"))


def test_what_a_guest_leaves_is_unpacked_and_one_that_died_says_why() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as files:
        entry = tarfile.TarInfo("./status")
        entry.size = 2
        files.addfile(entry, io.BytesIO(b"0\n"))
    assert guest._unpacked(packed.getvalue(), "") == {"status": b"0\n"}
    with pytest.raises(LinuxError, match="Kernel panic"):
        guest._unpacked(b"", "booting\nKernel panic - not syncing\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_whatever_ends_the_maker_of_a_guest_ends_the_guest(tmp_path: Path, number: signal.Signals) -> None:
    qemu = tmp_path / "qemu-system-x86_64"
    qemu.write_text("#!/bin/sh\necho $$\nexec sleep 600\n")
    qemu.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-c", BOOT, str(tmp_path)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as maker:
        assert maker.stdout
        guest_pid = os.pidfd_open(int(maker.stdout.readline()))
        maker.send_signal(number)
        maker.wait()
    try:
        assert select.select([guest_pid], [], [], 10)[0], "it runs still"
    finally:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(guest_pid, signal.SIGKILL)
        os.close(guest_pid)


def test_a_kernel_is_not_for_the_simulator(scenario: airtcp.Scenario) -> None:
    with pytest.raises(ValueError, match="on='linux'"):
        airtcp.compare(scenario, kernel=KERNEL)


@pytest.mark.live
@pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="needs qemu-system-x86_64")
@pytest.mark.skipif(
    not (KERNELS / "debian" / KERNEL / "made").exists(), reason=f"needs the kernel: {KERNELS} has no {KERNEL}"
)
def test_the_same_run_in_two_guests_sends_the_same_packets(
    airtcpd: Airtcpd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Losses and timeouts included, which this kernel does not count."""
    monkeypatch.setenv(guest.VARIABLE, str(KERNELS))
    link = {"name": "radio", "rate": "2Mbit/s", "delay": "10ms", "loss": {"packet": 0.2}}
    scenario = airtcp.Scenario.build(name="short", duration="3s", schemes=["cubic"], link=[link])
    place = guest.guest(KERNEL, airtcpd)
    one, other = run_all([Job(scenario, "cubic", 1)] * 2, place.at_a_time, place=place)
    assert isinstance(one, KernelRun)
    assert isinstance(other, KernelRun)
    assert counts(one) == counts(other)
    assert one.run["goodput_bps"] == pytest.approx(other.run["goodput_bps"], rel=1e-6)
    assert one.host["kernel"].startswith(KERNEL)
    assert one.run["flows"][0]["timeouts"] > 0
    assert one.run["goodput_bps"] > 200_000
