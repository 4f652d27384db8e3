"""Whatever the format: what a file shows is used or named, and of several paths none is taken silently."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dialects import DIALECTS
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fping import TWO, lists, sums
from test_fping import lines as fping_lines
from test_fuzz import IPERF3, JSONS, VALID, places
from test_mtr import GATEWAY, REPORTS, TARGET
from test_other_tools import dumped, fetched, flent, fping, irtt
from test_ss import flow

from airtcp.fit.detect import contents, read
from airtcp.fit.measurement import Measurement, Subjects
from airtcp.fit.readers import FileError

COLUMNS: Mapping[str, Callable[[int], float]] = {
    "rtt_ms": lambda n: 20 + n % 5,
    "ping (ms)": lambda n: 25 + n % 4,
    "latency_avg_ms": lambda n: 22 + n % 3,
    "rtt_max_ms": lambda n: 60 + n % 7,
    "lost": lambda n: float(n % 4 == 0),
    "packet_loss": lambda n: (n % 3) / 10,
    "Loss (%)": lambda n: (n % 5) * 10,
    "drop_rate": lambda n: (n % 2) / 4,
    "packets_lost": lambda n: n % 3,
    "throughput_mbps": lambda n: 5 + n % 3,
    "download_mbps": lambda n: 9 + n % 3,
    "upload_kbps": lambda n: 900 + n % 3,
    "bandwidth_kbps": lambda n: 4000 + n,
    "jitter_ms": lambda n: 1 + n % 2,
    "retransmits": lambda n: n % 6,
}
"""Headings, and the value of each row."""
ROWS = 12


def essence(found: Measurement | Subjects) -> str:
    """Everything but the notes."""

    def plain(value: object) -> object:
        if isinstance(value, np.ndarray):
            return value.tolist()
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {
                field.name: plain(getattr(value, field.name))
                for field in dataclasses.fields(value)
                if field.name not in {"notes", "source"}
            }
        if isinstance(value, tuple):
            return [plain(each) for each in value]
        return {key: plain(each) for key, each in value.items()} if isinstance(value, Mapping) else value

    return repr(plain(found))


def said(found: Measurement | Subjects) -> str:
    if isinstance(found, Measurement):
        return " ".join(found.notes)
    return " ".join([*found.of, *(note for each in found.of.values() for note in each.notes)])


def read_or_refused(path: Path) -> Measurement | Subjects | str:
    """Returns the message of a refusal."""
    try:
        return contents(path)
    except FileError as error:
        return str(error)


def table(headings: list[str], *, is_json: bool, changed: str = "") -> str:
    rows: list[dict[str, Any]] = []
    for n in range(ROWS):
        values = {heading: COLUMNS[heading](n) for heading in headings}
        if changed:
            values[changed] = values[changed] / 2 if values[changed] else 1
        rows.append({"time_s": n, **values})
    if is_json:
        return json.dumps(rows)
    return "\n".join([",".join(["time_s", *headings]), *(",".join(map(str, row.values())) for row in rows)])


@given(
    headings=st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5, unique=True),
    is_json=st.booleans(),
)
@settings(max_examples=60, derandomize=True)
def test_every_column_is_used_or_named(
    headings: list[str], is_json: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A column is used if other values in it say something else."""
    path = tmp_path_factory.getbasetemp() / "table"
    path.write_text(table(headings, is_json=is_json))
    found = read_or_refused(path)
    if isinstance(found, str):
        assert any(heading in found for heading in headings) or "--format" in found
        return
    for heading in headings:
        path.write_text(table(headings, is_json=is_json, changed=heading))
        assert essence(contents(path)) != essence(found) or heading in said(found)


def test_every_series_of_flent_is_used_or_named(tmp_path: Path) -> None:
    document = flent(2, 1)
    document["raw_values"] = {}
    document["results"] |= {
        "Ping (ms) UDP BE": [30.0] * 100,
        "TCP upload B0::tcp_rtt": [45.0] * 100,
        "VoIP loss (%)": [1.0] * 100,
    }
    path = tmp_path / "test.flent"
    path.write_text(json.dumps(document))
    found = contents(path)
    for name in document["results"]:
        if name in {"TCP upload sum", "Ping (ms) UDP BE"}:
            continue
        changed = {**document["results"], name: [7.0] * 100}
        path.write_text(json.dumps({**document, "results": changed}))
        assert essence(contents(path)) != essence(found) or name in said(found)


class Twice(dict[str, Any]):
    """An object that is written with one of its keys twice, the second time with this value."""

    def __init__(self, of: Mapping[str, Any], key: str, value: object) -> None:
        super().__init__(of)
        self.twice = (key, value)

    def items(self) -> Any:
        return [*super().items(), self.twice]


def doubled(value: Any, of: dict[str, Any], key: str, other: object) -> Any:
    if value is of:
        return Twice(value, key, other)
    if isinstance(value, dict):
        return {name: doubled(each, of, key, other) for name, each in value.items()}
    return [doubled(each, of, key, other) for each in value] if isinstance(value, list) else value


@given(name=st.sampled_from(JSONS), place=st.integers(0, 10_000), other=st.sampled_from([7, "x", None, {}]))
@settings(max_examples=80, derandomize=True)
def test_a_key_that_stands_twice_is_noticed(
    name: str, place: int, other: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document = json.loads(VALID[name])
    every = places(document)
    of, key = every[place % len(every)]
    if of[key] == other:
        return
    path = tmp_path_factory.getbasetemp() / "twice.json"
    # The encoder in C would not ask for `items`.
    path.write_text("".join(json.JSONEncoder(indent=1).iterencode(doubled(document, of, key, other))))
    found = read_or_refused(path)
    assert isinstance(found, str) or f"`{key}`" in said(found)


def iperf3_of(host: str) -> str:
    document = json.loads(json.dumps(IPERF3))
    document["start"]["connecting_to"] = {"host": host, "port": 5201}
    return json.dumps(document)


def irtt_of(host: str) -> str:
    document = json.loads(irtt(["false"] * 5))
    document["config"]["remote_address"] = f"{host}:2112"
    return json.dumps(document)


def flent_of(*hosts: str) -> str:
    document = flent(0, 0)
    document["raw_values"] = {}
    document["results"] = {f"Ping (ms) ICMP {host}": [20.0] * 100 for host in hosts}
    return json.dumps(document)


RTTS = [20.0, 21.0, None, 22.0, 23.0]
ONE, OTHER = "192.0.2.1", "203.0.113.77"
SEVERAL: dict[str, str] = {
    **{
        f"ping of {name}": dialect(RTTS) + "\n\n" + dialect(RTTS).replace(ONE, OTHER)
        for name, dialect in DIALECTS.items()
        if name != "linux_stamped"
    },
    **{
        f"mtr: {form.__name__}": form([GATEWAY, TARGET], TARGET[0])
        + "\n"
        + form([GATEWAY, (OTHER, 2, 50.0, 60.0)], OTHER)
        for form in REPORTS
    },
    "fping": fping_lines(TWO),
    "fping -C": lists(TWO),
    "fping -q": sums(TWO),
    "fping --json": fping([20.0, 21.0], dated=True)
    + "\n"
    + fping([80.0, 81.0], dated=True).replace(ONE, OTHER),
    "ss": "".join(
        flow(40_000, 90_000 * n, 20) + flow(40_001, 80_000 * n, 70, ("192.0.2.7", OTHER)) for n in range(1, 4)
    ),
    "ss, one pair": "".join(flow(40_000 + k, 90_000 * n, 20) for n in range(1, 4) for k in range(3)),
    "smokeping": fetched() + "\n" + fetched(),
    "smokeping dump": dumped() + "\n" + dumped(),
    "flent": flent_of("near.example", "far.example"),
    "iperf3": iperf3_of(ONE) + iperf3_of(OTHER),
    "irtt": irtt_of(ONE) + "\n" + irtt_of(OTHER),
    "csv columns": "time_s,Alpha_rtt_ms,Beta_rtt_ms\n" + "".join(f"{n},20,80\n" for n in range(20)),
    "csv rows": "time_s,server,rtt_ms\n"
    + "".join(f"{n},{'ab'[n % 2]},{20 + 60 * (n % 2)}\n" for n in range(40)),
}
"""Files of several paths, or of several flows over one."""


@pytest.mark.parametrize("name", SEVERAL)
def test_several_subjects_are_never_taken_for_one_silently(name: str, tmp_path: Path) -> None:
    path = tmp_path / "several.txt"
    path.write_text(SEVERAL[name])
    found = contents(path)
    if isinstance(found, Measurement):
        assert "combined" in said(found)
        return
    assert len(found.of) == 2
    assert found.usual is None or name.startswith(("ping", "ss"))


@pytest.mark.parametrize(("series", "load"), [("UDP upload", "forward"), ("UDP download", "reverse")])
def test_a_flood_that_is_not_used_still_loads_flent_s_pings(tmp_path: Path, series: str, load: str) -> None:
    document = flent(0, 0)
    document["results"] = {name: of for name, of in document["results"].items() if name.startswith("Ping")}
    document["results"][series] = [5.0] * len(document["x_values"])
    path = tmp_path / "flood.flent"
    path.write_text(json.dumps(document))
    found = read(path)
    assert found.load == load
    assert any(f"`{series}`" in note for note in found.notes)
