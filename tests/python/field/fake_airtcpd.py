"""Stands in for `airtcpd`: answers as it does, with what the simulator makes of the run, and in no time.

FAKE_AIRTCPD, a JSON object, changes that: `version`; `broken`, schemes whose runs fail; `hanging`, schemes
whose runs do not end until they are interrupted; `late`, a share of late departures; `scale`, by which
goodput differs from the simulator's. Each start is told in the file that FAKE_AIRTCPD_LOG names.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from airtcp import Scenario

OPTIONS = json.loads(os.environ.get("FAKE_AIRTCPD", "{}"))
FORMLESS = ("decoupling", "packet-control", "bsd-1998")


def engine() -> Any:
    """Alone: the package around it takes longer to import than a run takes."""
    name, path = "airtcp._engine", os.environ["AIRTCP_ENGINE"]
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print("airtcpd", OPTIONS.get("version") or engine().version())
        return
    assert arguments.pop(0) == "run"
    planned = "--plan" in arguments
    if planned:
        arguments.remove("--plan")
    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    scenario = engine()._restore_scenario(Path(given["--recipe"]).read_text(encoding="utf-8"), [])
    print(json.dumps([form(scheme) for scheme in scenario.schemes])) if planned else run(scenario, given)


def form(scheme: str) -> dict[str, Any]:
    lacking = next((part for part in FORMLESS if part in scheme), None)
    reason = f"no Linux form yet: {lacking}" if lacking else None
    return {"scheme": scheme, "form": None if reason else {"congestion_control": scheme}, "reason": reason}


def run(scenario: Scenario, given: dict[str, str]) -> None:
    scheme, seed = given["--scheme"], int(given["--seed"])
    log(f"start {scheme} {seed}")
    if scheme in OPTIONS.get("hanging", []):
        wait_for_interrupt(scheme, seed)
    if scheme in OPTIONS.get("broken", []):
        print(f"airtcpd: cannot load {scheme}: it is broken", file=sys.stderr)
        sys.exit(1)
    interval = given.get("--series-interval")
    interval_s = float(interval.removesuffix("ns")) / 1e9 if interval else None
    record = scenario.run(scheme, seed, series_interval_s=interval_s)
    content = json.loads(record.to_json())
    content["goodput_bps"] *= OPTIONS.get("scale", 1)
    parts = {
        "flows": record.flow_series(),
        "queues": record.queue_series(),
        "events": record.event_series(),
        "deliveries": record.delivery_series(),
        "rtts": record.rtt_counts(),
    }
    late = int(1000 * OPTIONS.get("late", 0))
    told = {
        "record": content,
        "series": {part: plain(columns) for part, columns in parts.items()} if interval else None,
        "host": {
            "kernel": "6.18.0",
            "congestion_control": scheme,
            "lateness": {"departures": 1000, "late": late, "mean_us": 2.0, "max_us": 5000.0},
            "lost_by_machine": OPTIONS.get("lost", 0),
            "controller": None,
            "sysctls": {"net.ipv4.tcp_ecn": "0"},
            "notes": ["delayed ACKs are the kernel's own"] if scheme == "reno" else [],
        },
    }
    Path(given["--out"]).write_text(json.dumps(told), encoding="utf-8")
    log(f"end {scheme} {seed}")


def plain(columns: dict[str, Any]) -> dict[str, list[Any]]:
    """As serde writes it: what is not a number is null."""
    return {
        name: [None if value != value else value for value in list(values)]  # noqa: PLR0124
        if isinstance(values, list)
        else [None if value != value else value for value in values.tolist()]  # noqa: PLR0124
        for name, values in columns.items()
    }


def wait_for_interrupt(scheme: str, seed: int) -> NoReturn:
    def undo(*_: object) -> None:
        log(f"undone {scheme} {seed}")
        sys.exit(1)

    signal.signal(signal.SIGINT, undo)
    log(f"waiting {scheme} {seed}")
    while True:
        signal.pause()


def log(line: str) -> None:
    if name := os.environ.get("FAKE_AIRTCPD_LOG"):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


main()
