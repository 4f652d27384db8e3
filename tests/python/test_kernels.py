"""The matrix of kernels: its pages, its choice of packages, and archives that a kernel unpacks."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

PAGE = Path(__file__).parents[2] / "docs/kernels.md"
KERNELS = Path(__file__).parents[2] / "scripts/kernels"
sys.path += [str(KERNELS), str(KERNELS / "guest")]
import commands  # noqa: E402
import doctor  # noqa: E402
import features  # noqa: E402
import files  # noqa: E402
import table  # noqa: E402

from airtcp.linux.guest import archive, debian  # noqa: E402

FOUND = st.fixed_dictionaries(
    {"works": st.booleans(), "says": st.sampled_from(["", "9.40 Mbit/s", "airtcpd: no"])}
)


def result(version: str, found: list[dict[str, object]]) -> table.Result:
    names = [feature.name for feature in features.FEATURES]
    rows = [{"feature": name, **each} for name, each in zip(names, found, strict=False)]
    return table.Result(version, f"{version}.0-1-amd64", "at revision 01234567", True, rows)


@given(st.lists(FOUND, min_size=1, max_size=30), st.lists(FOUND, min_size=1, max_size=30))
def test_a_page_claims_what_works(first: list[dict[str, object]], other: list[dict[str, object]]) -> None:
    results = [result("5.10", first), result("6.1", other)]
    page = table.page(results)
    for each in results:
        assert table.claims(page, each.version) == each.good
    assert not table.claims(page, "7.3")


def test_a_page_says_which_guest_was_stopped() -> None:
    stopped = table.Result("6.1", "6.1.0-50-amd64", "01234567", False, [])
    assert "stopped before its end" in table.page([stopped])
    assert "stopped before its end" not in table.page([result("6.1", [])])


def test_a_page_says_what_no_entry_means() -> None:
    whole = result("6.1", [{"works": True, "says": ""}] * 2)
    part = result("7.3", [{"works": True, "says": ""}])
    assert "7.3.0-1-amd64, airtcpd at revision 01234567; what has no entry was not tried" in table.page(
        [whole, part]
    )
    assert "not tried" not in table.page([whole])


def test_no_name_of_a_feature_breaks_the_table() -> None:
    names = [feature.name for feature in features.FEATURES]
    assert len(set(names)) == len(names)
    assert not any("|" in name for name in names)


def test_the_page_is_about_features_that_are_tried() -> None:
    names = {feature.name for feature in features.FEATURES} | {"doctor agrees"}
    names |= {f"{feature.group or feature.section}: leaves nothing" for feature in features.FEATURES}
    rows = [line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if line.startswith("|")]
    assert rows[:2] == ["feature", "---"]
    assert set(rows[2:]) <= names


def test_a_result_is_read_as_a_guest_said_it(tmp_path: Path) -> None:
    about = {"version": "6.1", "release": "6.1.0-50-amd64", "airtcpd": "01234567", "has_ended": False}
    (tmp_path / "about").write_text(json.dumps(about))
    (tmp_path / "said").write_bytes(
        b'$ ip netns\r\n\xff\nFEATURE {"feature": "filter", "works": false, "says": "airtcpd: no"}\n'
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


def test_the_doctor_must_say_what_was_found() -> None:
    checks = [{"what": "--factor", "verdict": "missing"}, {"what": "sockops", "verdict": "limited"}]
    sections = [
        {"name": "rto, retransmission timers", "works": True, "checks": checks},
        {"name": "proxy, split connections", "works": False, "checks": []},
    ]

    def wrong(section: str, check: str, *, works: bool) -> list[str]:
        return doctor.wrong(sections, [doctor.Tried("this one", section, check, works)])

    for check, works in (("--factor", False), ("sockops", True), ("", True)):
        assert not wrong("rto", check, works=works)
    assert wrong("rto", "--factor", works=True) == [
        "says missing of rto, --factor, while this works: this one"
    ]
    assert wrong("rto", "", works=False) == ["says ok of rto, while this fails: this one"]
    assert not wrong("proxy", "TPROXY", works=False)
    assert wrong("proxy", "TPROXY", works=True)
    for section, check in (("rto", "gone"), ("filter", "programs")):
        assert wrong(section, check, works=False) == [f"says nothing of {section}, {check}, for this one"]


def test_the_page_says_from_which_goodput_on_a_feature_works() -> None:
    goodputs = ("CONTROLLER", "MARKED", "CONCORD", "LINK", "LONG", "ROUTED", "CIRCUIT")
    for mbps in (getattr(features, name) for name in goodputs):
        assert f"{mbps:g} Mbit/s" in table.INTRODUCTION.replace("\n", " ")


def test_the_newest_kernel_of_a_version_is_chosen() -> None:
    names = [
        "linux-image-6.1.0-9-amd64", "linux-image-6.1.0-50-amd64", "linux-image-6.1.0-51-cloud-amd64",
        "linux-image-6.1.0-52-rt-amd64", "linux-image-6.1.0-53-amd64-dbg",
    ]  # fmt: skip
    assert debian.newest(names) == "linux-image-6.1.0-50-amd64"
    assert debian.newest(names[2:]) is None


def unpacked(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Reads cpio's format `newc`: 13 fields of 8 hexadecimal digits after a magic number."""
    found = {}
    while data:
        assert data.startswith(b"070701")
        fields = [int(data[start : start + 8], 16) for start in range(6, 110, 8)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = data[110 : 110 + name_size - 1].decode()
        start = (110 + name_size + 3) // 4 * 4
        content, end = data[start : start + size], (start + size + 3) // 4 * 4
        data = data[end:]
        if name == "TRAILER!!!":
            data = data.lstrip(b"\0")
        else:
            found[name] = (mode, content)
    return found


@given(
    st.lists(
        st.dictionaries(
            st.from_regex(r"([A-Z]{1,3}/){0,2}[a-z]{1,5}", fullmatch=True), st.binary(max_size=9)
        ),
        max_size=3,
    )
)
def test_archives_one_after_the_other_have_every_file_below_its_folders(
    parts: list[dict[str, bytes]],
) -> None:
    file = io.BytesIO()
    for part in parts:
        archive.write(archive.with_folders(part), file)
    found = unpacked(file.getvalue())
    assert {name: content for name, (mode, content) in found.items() if mode == archive.REGULAR} == {
        name: content for part in parts for name, content in part.items()
    }
    for part in parts:
        names = [name for name, _, _ in archive.with_folders(part)]
        for name in part:
            for folder in list(Path(name).parents)[:-1]:
                assert names.index(str(folder)) < names.index(name)


def test_a_folder_is_packed_without_what_is_not_wanted(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/a").write_bytes(b"odd")
    (tmp_path / "usr/share/doc").mkdir(parents=True)
    (tmp_path / "bin").symlink_to("usr/bin")
    packed = list(archive.of_folder(tmp_path, lambda name: not files.NOT_NEEDED.match(name)))
    assert [(name, content) for name, _, content in packed] == [
        ("bin", b"usr/bin"), ("usr", b""), ("usr/bin", b""), ("usr/bin/a", b"odd"), ("usr/share", b"")
    ]  # fmt: skip
