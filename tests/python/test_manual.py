"""Man pages and completions of `airtcp`, which packages bring, are read off its commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from airtcp.linux.airtcpd import find
from airtcp.linux.error import LinuxError

ROOT = Path(__file__).resolve().parents[2]
SHELLS = {"bash": "airtcp.bash", "zsh": "_airtcp", "fish": "airtcp.fish"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, ROOT / "packaging/manual.py", folder], check=True)
    return folder


def test_each_command_has_a_page(made: Path) -> None:
    page = (made / "man1/airtcp.1").read_text(encoding="utf-8")
    for name in ("advise", "apply", "compare", "try", "undo"):
        assert f"airtcp\\-{name}(1)" in page
        own = (made / f"man1/airtcp-{name}.1").read_text(encoding="utf-8")
        assert ".SH OPTIONS" in own
        assert ".SH EXAMPLES" in own
    assert (made / "man1/airtcp-paper-cross.1").exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_its_script(made: Path, shell: str) -> None:
    assert "complete_" in (made / shell / SHELLS[shell]).read_text(encoding="utf-8")


def test_a_shell_is_told_how_a_line_may_go_on() -> None:
    program = Path(sys.executable).with_name("airtcp")
    for line, word in {"airtcp try --sch": "--schemes", "airtcp und": "undo"}.items():
        asked = {
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
            "_AIRTCP_COMPLETE": "complete_bash",
        }
        done = subprocess.run([program], env=asked, capture_output=True, text=True, check=False)
        assert done.stdout.split() == [word]


def test_airtcpd_writes_its_own(tmp_path: Path) -> None:
    try:
        airtcpd = find()
    except LinuxError as error:
        pytest.skip(f"skipped: {error}")
    airtcpd.answer("generate", tmp_path)
    assert "airtcpd\\-cc\\-load(8)" in (tmp_path / "man8/airtcpd-cc.8").read_text(encoding="utf-8")
    assert not (tmp_path / "man8/airtcpd-generate.8").exists()
    for name in ("bash/airtcpd.bash", "zsh/_airtcpd", "fish/airtcpd.fish"):
        assert "filter" in (tmp_path / name).read_text(encoding="utf-8")
