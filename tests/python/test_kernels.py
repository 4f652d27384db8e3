"""The matrix of kernels: its pages, its choice of packages, and archives that a kernel unpacks."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

KERNELS = Path(__file__).parents[2] / "scripts/kernels"
sys.path += [str(KERNELS), str(KERNELS / "guest")]
import commands  # noqa: E402
import debian  # noqa: E402
import features  # noqa: E402
import initrd  # noqa: E402
import table  # noqa: E402

FOUND = st.fixed_dictionaries(
    {
        "works": st.booleans(),
        "says": st.sampled_from(["", "9.40 Mbit/s", "airtcpd: no"]),
        "left": st.sampled_from([[], ["F: a"]]),
    }
)


def result(version: str, found: list[dict[str, object]]) -> table.Result:
    names = [feature.name for feature in features.FEATURES]
    rows = [{"feature": name, **each} for name, each in zip(names, found, strict=False)]
    return table.Result(version, f"{version}.0-1-amd64", "01234567", True, rows)


@given(st.lists(FOUND, min_size=1, max_size=30), st.lists(FOUND, min_size=1, max_size=30))
def test_a_page_claims_what_works_and_leaves_nothing(
    first: list[dict[str, object]], other: list[dict[str, object]]
) -> None:
    results = [result("5.10", first), result("6.1", other)]
    page = table.page(results)
    for each in results:
        assert table.claims(page, each.version) == each.good
    assert not table.claims(page, "7.3")


def test_no_name_of_a_feature_breaks_the_table() -> None:
    names = [feature.name for feature in features.FEATURES]
    assert len(set(names)) == len(names)
    assert not any("|" in name for name in names)


def test_a_result_is_read_as_a_guest_wrote_it(tmp_path: Path) -> None:
    about = {"version": "6.1", "release": "6.1.0-50-amd64", "airtcpd": "01234567", "has_ended": False}
    (tmp_path / "about").write_text(json.dumps(about))
    assert table.read(tmp_path).features == []
    (tmp_path / "features").write_text(
        '{"feature": "filter", "works": false, "says": "airtcpd: no", "left": []}\n'
    )
    assert table.text(table.read(tmp_path)).splitlines() == [
        "Linux 6.1.0-50-amd64", "  FAIL filter: airtcpd: no", "  FAIL the guest did not come to its end"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("libbpf: something\nairtcpd: cc load: Invalid argument\n", "airtcpd: cc load: Invalid argument"),
        (
            "airtcpd: undone\nthread 'main' panicked at src/main.rs:1:1:\n",
            "thread 'main' panicked at src/main.rs:1:1:",
        ),
        ("one\n\ntwo\n", "two"),
        ("", ""),
    ],
)
def test_the_line_that_says_why_is_found(said: str, reason: str) -> None:
    assert commands.reason(said) == reason


def test_a_transfer_is_as_fast_as_its_receiver_says() -> None:
    said = 'sh: warning\n{"end": {"sum_received": {"bits_per_second": 9400000}}}\n4.3 s, seed 1\n'
    assert commands.carries(said, 8.5) == "9.40 Mbit/s"
    with pytest.raises(commands.Failed, match=r"at least 9\.5 expected"):
        commands.carries(said, 9.5)
    with pytest.raises(commands.Failed, match="airtcpd: no"):
        commands.carries("airtcpd: no\n", 1)


def test_the_newest_kernel_of_a_version_is_chosen() -> None:
    names = [
        "linux-image-6.1.0-9-amd64", "linux-image-6.1.0-50-amd64", "linux-image-6.1.0-51-cloud-amd64",
        "linux-image-6.1.0-52-rt-amd64", "linux-image-6.1.0-53-amd64-dbg",
    ]  # fmt: skip
    assert debian.newest(names) == "linux-image-6.1.0-50-amd64"
    assert debian.newest(names[2:]) is None


@pytest.mark.skipif(not shutil.which("cpio"), reason="cpio is missing")
def test_cpio_reads_the_archive(tmp_path: Path) -> None:
    place = tmp_path / "initrd"
    initrd.pack(
        [("bin", initrd.FOLDER, b""), ("bin/a", initrd.REGULAR, b"odd"), ("bin/b", initrd.LINK, b"a")], place
    )
    subprocess.run(
        ["cpio", "-i", "--quiet"], cwd=tmp_path, input=gzip.decompress(place.read_bytes()), check=True
    )
    assert (tmp_path / "bin/b").read_bytes() == b"odd"
