"""mtr in each of its formats: the target's hop is used, and no other without being asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.fit.detect import contents, read
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError

Row = tuple[str, int, float, float]
"""Host, loss in percent of 100 probes, lowest and mean RTT in ms."""
COLUMNS = ["Loss%", "Snt", "Last", "Avg", "Best", "Wrst", "StDev"]
OTHER_COLUMNS = ["Loss%", "Drop", "Rcv", "Snt", "Best", "Avg", "Wrst", "Last"]
"""`-o LDRSBAWN`"""


def values(row: Row) -> dict[str, float]:
    _, loss, least, mean = row
    most = 0.0 if loss == 100 else mean + 9
    return {"Loss%": loss, "Drop": loss, "Rcv": 100 - loss, "Snt": 100, "Last": mean, "Avg": mean,
            "Best": least, "Wrst": most, "StDev": 0.5}  # fmt: skip


def report(rows: list[Row], _target: str, columns: list[str] = COLUMNS) -> str:
    text = f"Start: 2026-01-01T12:00:00+0000\nHOST: here {'  '.join(columns)}\n"
    for n, row in enumerate(rows, 1):
        of = values(row)
        first = f"{of['Loss%']:.1f}" + ("%" if row[0] != "???" else "")
        numbers = [f"{of[name]:g}" for name in columns[1:]]
        text += f"{n:3}.|-- {row[0]:25} {first:>7} {' '.join(numbers)}\n"
    return text


def other_columns(rows: list[Row], target: str) -> str:
    return report(rows, target, OTHER_COLUMNS)


def from_the_screen(rows: list[Row], _target: str) -> str:
    lines = ["                             My traceroute  [v0.95]", "Keys:  Help   Display mode   quit",
             "                   Packets               Pings", f" Host  {'  '.join(COLUMNS)}"]  # fmt: skip
    for n, row in enumerate(rows, 1):
        of = values(row)
        numbers = " ".join(f"{of[name]:g}" for name in COLUMNS[1:])
        lines.append(f" {n}. ???" if row[0] == "???" else f" {n}. {row[0]}  {of['Loss%']:.1f}% {numbers}")
    return "\n".join(lines)


def as_json(rows: list[Row], target: str) -> str:
    hubs: list[dict[str, Any]] = [
        {"count": n, "host": row[0], **{name: values(row)[name] for name in COLUMNS}}
        for n, row in enumerate(rows, 1)
    ]
    return json.dumps(
        {"report": {"mtr": {"src": "here", "dst": target, "psize": "64"}, "hubs": hubs}}, indent=1
    )


def older_json(rows: list[Row], target: str) -> str:
    """Before 0.94, numbers of hops are strings."""
    document = json.loads(as_json(rows, target))
    for hub in document["report"]["hubs"]:
        hub["count"] = str(hub["count"])
    return json.dumps(document)


def as_csv(rows: list[Row], target: str) -> str:
    lines = [f"Mtr_Version,Start_Time,Status,Host,Hop,Ip,{','.join(COLUMNS)},"]
    for n, row in enumerate(rows, 1):
        numbers = ",".join(f"{values(row)[name]:.2f}" for name in COLUMNS)
        lines.append(f"MTR.0.95,1700000000,OK,{target},{n},{row[0]},{numbers}")
    return "\n".join(lines)


def as_xml(rows: list[Row], target: str) -> str:
    lines = [f'<MTR SRC="here" DST="{target}" TOS="0x0" PSIZE="64" TESTS="100">']
    for n, row in enumerate(rows, 1):
        of = values(row)
        lines += [f'    <HUB COUNT="{n}" HOST="{row[0]}">', f"        <Loss%> {of['Loss%']:.1f}%</Loss%>"]
        lines += [f"        <{name}>   {of[name]:g}</{name}>" for name in COLUMNS[1:]]
        lines.append("    </HUB>")
    return "\n".join([*lines, "</MTR>"])


def raw(rows: list[Row], _target: str) -> str:
    lines = [f"h {n} {row[0]}" for n, row in enumerate(rows) if row[0] != "???"]
    for probe in range(100):
        for n, (_, loss, least, _) in enumerate(rows):
            lines.append(f"x {n} {33000 + 8 * probe + n}")
            if probe >= loss:
                lines.append(f"p {n} {least * 1000:.0f} {33000 + 8 * probe + n}")
    return "\n".join(lines)


Format = Callable[[list[Row], str], str]
REPORTS: list[Format] = [report, other_columns, from_the_screen, as_json, older_json, as_csv, as_xml]
HOP = st.tuples(st.integers(0, 90), st.integers(2, 200), st.integers(0, 40))
HOPS = st.lists(HOP | st.none(), min_size=1, max_size=5)
TARGET: Row = ("192.0.2.99", 4, 30.0, 33.5)
GATEWAY: Row = ("192.0.2.1", 0, 1.0, 1.5)
SILENT: Row = ("???", 100, 0.0, 0.0)


def written(folder: Path, text: str) -> Path:
    path = folder / "mtr.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize("form", [*REPORTS, raw])
@given(hops=HOPS)
@settings(max_examples=12, derandomize=True)
def test_the_target_s_hop_or_none_is_used(
    form: Format, hops: list[tuple[int, int, int] | None], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows: list[Row] = [
        SILENT if hop is None else (f"192.0.2.{n}", hop[0], float(hop[1]), float(hop[1] + hop[2]))
        for n, hop in enumerate(hops, 1)
    ]
    path = written(tmp_path_factory.getbasetemp(), form(rows, f"192.0.2.{len(hops)}"))
    last = rows[-1]
    if last is SILENT:
        with pytest.raises(FileError, match=r"target has not answered|has not answered mtr|no hop|no probe"):
            read(path)
        return
    found = read(path)
    assert found.round_trips is not None
    least_s = found.round_trips.least_s or float(found.round_trips.rtt_s.min())
    assert least_s == pytest.approx(last[2] / 1e3)
    lost = found.loss_counts[0].lost if found.loss_counts else int(found.fates[0].lost.sum())
    assert lost == last[1]


@pytest.mark.parametrize("form", [*REPORTS, raw])
def test_a_hop_that_is_asked_for_is_used(form: Format, tmp_path: Path) -> None:
    path = written(tmp_path, form([GATEWAY, TARGET, SILENT], "198.51.100.7"))
    with pytest.raises(FileError, match=r"the last hop, 3, is silent \(hops: 192.0.2.1, 192.0.2.99\)"):
        read(path)
    trips = read(path, only="192.0.2.1").round_trips
    assert trips is not None
    assert (trips.least_s or float(trips.rtt_s.min())) == pytest.approx(0.001)


@pytest.mark.parametrize("form", [as_json, as_csv, as_xml])
def test_a_last_hop_that_answers_is_not_the_target_for_that(form: Format, tmp_path: Path) -> None:
    path = written(tmp_path, form([GATEWAY, TARGET], "198.51.100.7"))
    with pytest.raises(FileError, match=r"last hop, 192.0.2.99, is not the target, 198.51.100.7"):
        read(path)
    # A name may be that of the last hop's address.
    assert isinstance(contents(written(tmp_path, form([GATEWAY, TARGET], "example.org"))), Measurement)


@pytest.mark.parametrize("form", REPORTS)
def test_several_reports(form: Format, tmp_path: Path) -> None:
    """To one target they add up; to several, one is chosen."""
    other: Row = ("203.0.113.5", 10, 80.0, 90.0)
    text = form([GATEWAY, TARGET], TARGET[0])
    found = read(written(tmp_path, f"{text}\n{text}\n"))
    assert (found.loss_counts[0].packets, found.loss_counts[0].lost) == (200, 8)
    several = contents(written(tmp_path, f"{text}\n{form([GATEWAY, other], other[0])}\n"))
    assert isinstance(several, Subjects)
    assert list(several.of) == ["192.0.2.99", "203.0.113.5"]


def test_probes_behind_the_target_are_its_own(tmp_path: Path) -> None:
    """In the first round mtr does not know yet how far the target is."""
    text = raw([GATEWAY, TARGET], "") + "\nx 2 9000\nh 2 192.0.2.99\np 2 30500 9000\nx 3 9001\n"
    found = read(written(tmp_path, text))
    assert int(found.fates[0].lost.sum()) == 4


@pytest.mark.parametrize("order", ["LSNABWV", "SRNABW", "LDRSNBAWVGJMXI"])
@pytest.mark.parametrize("mark", [".", ","])
def test_any_order_of_columns_that_has_what_counts(order: str, mark: str, tmp_path: Path) -> None:
    """`mtr -o ORDER`; without Loss%, what was received tells the loss."""
    names = {"L": "Loss%", "D": "Drop", "R": "Rcv", "S": "Snt", "N": "Last", "A": "Avg", "B": "Best"}
    names |= {"W": "Wrst", "V": "StDev", "G": "Gmean", "J": "Jttr", "M": "Javg", "X": "Jmax", "I": "Jint"}
    values = {"L": "5.0%", "D": "5", "R": "95", "S": "100", "N": "21.0", "A": "22.3", "B": "20.1"}
    row = " ".join(values.get(letter, "1.5") for letter in order).replace(".", mark)
    heading = " ".join(names[letter] for letter in order)
    path = tmp_path / "mtr.txt"
    path.write_text(f"Start: 2026-11-22T03:08:50+0000\nHOST: here  {heading}\n  1.|-- 192.0.2.1  {row}\n")
    found = read(path)
    assert found.round_trips is not None
    assert found.round_trips.least_s == pytest.approx(0.0201)
    assert found.round_trips.rtt_s[0] == pytest.approx(0.0223)
    assert [(count.lost, count.packets) for count in found.loss_counts] == [(5, 100)]
