"""Asks the radio on the way to a host: `iw` on Wi-Fi, ModemManager's `mmcli` in a cell.

What they print differs between versions, and names of networks in it may be anything: what is not understood
is left out.
"""

from __future__ import annotations

import re
import shutil
import subprocess

from airtcp.fit.radio import Kind, Radio, figure
from airtcp.measure.sockets import Host

_ANSWER_S = 3
_MOST = 1 << 16
"""Characters of an answer that are read."""
_NUMBER = r"\s*'?(-?\d{1,9}(?:\.\d{1,6})?)"
_IW = {
    "signal_dbm": re.compile(rf"^\s*signal:{_NUMBER}", re.MULTILINE),
    "retries": re.compile(rf"^\s*tx retries:{_NUMBER}", re.MULTILINE),
    "failed": re.compile(rf"^\s*tx failed:{_NUMBER}", re.MULTILINE),
    "rx_mbps": re.compile(rf"^\s*rx bitrate:{_NUMBER}", re.MULTILINE),
    "tx_mbps": re.compile(rf"^\s*tx bitrate:{_NUMBER}", re.MULTILINE),
}
_TX = re.compile(r"^\s*tx bitrate:([^\n]{1,200})", re.MULTILINE)
_RATE = {
    "mcs": re.compile(rf"\bMCS{_NUMBER}"),
    "width_mhz": re.compile(r"\b(\d{1,4})\s?MHz"),
    "streams": re.compile(rf"\bNSS{_NUMBER}"),
}
_OF_N = re.compile(r"(?<![\w-])MCS\b")
_STATION = re.compile(r"^(?:Station|Connected to) [0-9A-Fa-f:]{17}\b", re.MULTILINE)
_TECHNOLOGY = re.compile(r"access tech(?:nolog(?:y|ies))?:\s*'?([\w, +-]{1,60})")
_CELLS: tuple[tuple[str, Kind], ...] = (("5gnr", "5G"), ("lte", "LTE"), ("hs", "3G"), ("umts", "3G"))
"""Parts of ModemManager's names, the newest generation first."""
_SECTIONS: dict[Kind, str] = {"5G": "5G", "LTE": "LTE", "3G": "UMTS"}
_MMCLI = {
    "rsrp_dbm": re.compile(rf"\brsrp:{_NUMBER}", re.IGNORECASE),
    "rsrq_db": re.compile(rf"\brsrq:{_NUMBER}", re.IGNORECASE),
    "snr_db": re.compile(rf"\b(?:s/n|snr):{_NUMBER}", re.IGNORECASE),
}


def ask(host: Host) -> Radio | None:
    """Returns what the radio says through which packets to the host leave; None if there is none to ask."""
    device = device_to(host)
    if device is None:
        return None
    found = wifi(_said("iw", "dev", device, "link"), _said("iw", "dev", device, "station", "dump"))
    if found is not None:
        return found
    modem = _said("mmcli", "-m", "any")
    return cell(modem, _said("mmcli", "-m", "any", "--signal-get")) if f"{device} (net)" in modem else None


def missing(host: Host) -> str:
    """Says which program would have told more of a device whose name is that of a radio; empty if none."""
    device = device_to(host) or ""
    for beginnings, program in (("wl", "iw"), ("ww", "mmcli")):
        if device.startswith(beginnings) and _place(program) is None:
            return f"`{program}` is not installed: nothing is recorded of the radio {device}"
    return ""


def device_to(host: Host) -> str | None:
    """Returns the network device of the route to the host."""
    found = re.search(r"\bdev ([\w.:@-]{1,32})", _said("ip", "-o", "route", "get", host.address))
    return found[1] if found is not None else None


def wifi(link: str, stations: str) -> Radio | None:
    """Reads `iw dev DEVICE link` and `iw dev DEVICE station dump`; None if it is not connected.

    An access point has several stations; nothing says which one the host is.
    """
    if len(_STATION.findall(link)) + len(_STATION.findall(stations)) == 0:
        return None
    text = link if len(_STATION.findall(stations)) > 1 else f"{stations}\n{link}"
    figures = _figures(_IW, text)
    sent = _TX.search(text)
    figures |= _figures(_RATE, sent[1] if sent is not None else "")
    if sent is not None and _OF_N.search(sent[1]) is not None and "mcs" in figures:
        # 802.11n counts its streams by the MCS, eight to each.
        figures["streams"] = figures["mcs"] // 8 + 1
    return Radio("Wi-Fi", "iw", figures)


def cell(modem: str, signal: str) -> Radio | None:
    """Reads `mmcli -m any` and `mmcli -m any --signal-get`; None if there is no access technology."""
    found = _TECHNOLOGY.search(modem)
    technology = found[1].lower() if found is not None else ""
    kind = next((kind for name, kind in _CELLS if name in technology), None)
    return None if kind is None else Radio(kind, "mmcli", _figures(_MMCLI, _section(signal, _SECTIONS[kind])))


def _section(text: str, name: str) -> str:
    """Returns the lines of one section: the first of them has its name in front of the bar."""
    kept, is_in = [], False
    for line in text.splitlines():
        title, bar, rest = line.partition("|")
        if bar and title.strip():
            is_in = title.strip().upper() == name
        if is_in:
            kept.append(rest)
    return "\n".join(kept)


def _figures(patterns: dict[str, re.Pattern[str]], text: str) -> dict[str, float]:
    found = ((name, pattern.search(text)) for name, pattern in patterns.items())
    values = ((name, figure(match[1])) for name, match in found if match is not None)
    return {name: value for name, value in values if value is not None}


def _said(program: str, *arguments: str) -> str:
    """Returns what a program prints; nothing if it is missing, fails or takes too long."""
    place = _place(program)
    if place is None:
        return ""
    try:
        done = subprocess.run([place, *arguments], capture_output=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout[:_MOST].decode("utf-8", "replace")


def _place(program: str) -> str | None:
    """Returns where a program is; users' paths often lack the directory of `iw`."""
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
