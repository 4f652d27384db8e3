"""The result of one speed test, as each program writes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Facts:
    down_bps: float
    up_bps: float
    idle_ms: float
    least_ms: float


def OOKLA(facts: Facts) -> str:
    def way(bps: float, iqm: float, low: float, high: float) -> dict[str, Any]:
        latency = {"iqm": iqm, "low": low, "high": high, "jitter": 18.0}
        return {"bandwidth": round(bps / 8), "bytes": round(bps), "elapsed": 8000, "latency": latency}

    ping = {"jitter": 1.75, "latency": facts.idle_ms, "low": facts.least_ms, "high": facts.idle_ms + 8}
    return line({
        "type": "result", "timestamp": "2024-02-01T10:00:00Z", "ping": ping,
        "download": way(facts.down_bps, 88.2, 22.9, 310.1), "upload": way(facts.up_bps, 240.0, 25.1, 700.2),
        "packetLoss": 1.2, "server": {"id": 1, "host": "s.example", "name": "Ex", "location": "X"},
        "result": {"id": "a", "url": "https://www.speedtest.net/result/c/a"},
    })  # fmt: skip


def ookla_csv(facts: Facts) -> str:
    fields = ("Ex - X", 1, facts.idle_ms, 1.7, "N/A", round(facts.down_bps / 8), round(facts.up_bps / 8), 9,
              9,
              "https://www.speedtest.net/result/c/a", 1, 88.2, 18, 22.9, 310.1, 240, 40, 25.1, 700.2,
              facts.least_ms, facts.idle_ms + 8)  # fmt: skip
    return ",".join(f'"{field}"' for field in fields) + "\n"


def ookla_text(facts: Facts) -> str:
    return (
        "   Speedtest by Ookla\n\n      Server: Ex - X (id: 1)\n         ISP: Example\n"
        f"Idle Latency: {facts.idle_ms:9.2f} ms   (jitter: 0.25ms, low: {facts.least_ms:.2f}ms, high: 9ms)\n"
        f"    Download: {facts.down_bps / 1e6:9.3f} Mbps (data used: 1.1 GB)\n"
        "                 88.20 ms   (jitter: 40.43ms, low: 22.90ms, high: 310.10ms)\n"
        f"      Upload: {facts.up_bps / 1e6:9.3f} Mbps (data used: 1.1 GB)\n"
        " Packet Loss:     1.2%\n  Result URL: https://www.speedtest.net/result/c/a\n"
    )


def speedtest_cli(facts: Facts) -> str:
    server = {
        "url": "http://s.example/upload.php",
        "name": "X",
        "sponsor": "Ex",
        "id": "1",
        "latency": facts.idle_ms,
    }
    return line({
        "download": facts.down_bps, "upload": facts.up_bps, "ping": facts.idle_ms, "server": server,
        "timestamp": "2024-02-01T10:00:00.000000Z", "bytes_sent": 9, "bytes_received": 9, "share": None,
    })  # fmt: skip


def speedtest_cli_csv(facts: Facts) -> str:
    measured = f"{facts.idle_ms},{facts.down_bps},{facts.up_bps}"
    return f'1,Ex,"X, Y",2024-02-01T10:00:00.000000Z,12.3,{measured},,192.0.2.1\n'


def speedtest_cli_text(facts: Facts) -> str:
    return (
        "Retrieving speedtest.net configuration...\nTesting from Example (192.0.2.1)...\n"
        f"Hosted by Ex (X) [12.30 km]: {facts.idle_ms} ms\nTesting download speed......\n"
        f"Download: {facts.down_bps / 1e6:.3f} Mbit/s\nTesting upload speed......\n"
        f"Upload: {facts.up_bps / 1e6:.3f} Mbit/s\n"
    )


def librespeed(facts: Facts) -> str:
    return line([{
        "timestamp": "2024-02-01T10:00:00Z", "server": {"name": "Ex", "url": "x"},
        "bytes_sent": 9, "bytes_received": 9, "ping": facts.idle_ms, "jitter": 0.5,
        "upload": facts.up_bps / 1e6,
        "download": facts.down_bps / 1e6, "share": "",
    }])  # fmt: skip


def librespeed_text(facts: Facts) -> str:
    return (
        f"Ping:\t{facts.idle_ms:.3f} ms\tJitter:\t0.50 ms\n"
        f"Download rate:\t{facts.down_bps / 8e6:.4f} MB/s\nUpload rate:\t{facts.up_bps / 8e6:.4f} MB/s\n"
    )


def ndt_rows(facts: Facts) -> str:
    """As BigQuery's own tool prints them, with numbers as strings: of downloads only."""
    row = {"MeanThroughputMbps": str(facts.down_bps / 1e6), "MinRTT": str(facts.least_ms), "LossRate": "0"}
    return line([{"id": "x", "date": "2024-02-01", "a": row}])


def cloudflare(facts: Facts) -> str:
    return line({
        "download": facts.down_bps, "upload": facts.up_bps, "latency": facts.idle_ms, "jitter": 1.1,
        "downLoadedLatency": 88.2, "upLoadedLatency": 240.0, "packetLoss": 0.012,
    })  # fmt: skip


def fast(facts: Facts) -> str:
    return line({
        "downloadSpeed": facts.down_bps / 1e6, "uploadSpeed": facts.up_bps / 1e6,
        "latency": facts.idle_ms, "bufferBloat": 88.2,
    })  # fmt: skip


def messages(facts: Facts, test: str) -> list[dict[str, Any]]:
    bps = facts.down_bps if test == "download" else facts.up_bps
    found = []
    for n in range(1, 21):
        elapsed, amount = 250_000 * n, round(bps / 8 * n / 4)
        info = {"RTT": round(1e3 * facts.least_ms) + 3000 + 10 * n, "MinRTT": round(1e3 * facts.least_ms),
                "SndMSS": 1448, "BytesSent": round(1.012 * amount), "BytesRetrans": round(0.012 * amount),
                "BytesAcked": amount, "BytesReceived": amount, "ElapsedTime": elapsed}  # fmt: skip
        app = {"ElapsedTime": elapsed, "NumBytes": amount}
        found.append({"AppInfo": app, "Origin": "client", "Test": test})
        found.append({"TCPInfo": info, "BBRInfo": {"BW": 9, "MinRTT": 9}, "Origin": "server", "Test": test})
    return found


def value(number: float, unit: str) -> dict[str, Any]:
    return {"Value": number, "Unit": unit}


def NDT7(facts: Facts) -> str:
    lines = [line({"Key": "starting", "Value": {"Test": "download"}})]
    for test in ("download", "upload"):
        lines += [line({"Key": "measurement", "Value": each}) for each in messages(facts, test)]
    summary = {
        "ServerFQDN": "ndt.example",
        "Download": {
            "Throughput": value(facts.down_bps / 1e6, "Mbit/s"),
            "Latency": value(facts.least_ms, "ms"),
        },
        "Upload": {"Throughput": value(facts.up_bps / 1e6, "Mbit/s"), "Latency": value(facts.least_ms, "ms")},
    }
    return "".join(lines) + line(summary)


def ndt7_old_summary(facts: Facts) -> str:
    return line({
        "ServerFQDN": "ndt.example", "Download": value(facts.down_bps / 1e6, "Mbit/s"),
        "Upload": value(facts.up_bps / 1e6, "Mbit/s"), "DownloadRetrans": value(1.2, "%"),
        "MinRTT": value(facts.least_ms, "ms"),
    })  # fmt: skip


def ndt7_archive(facts: Facts) -> str:
    return "".join(
        line({"GitShortCommit": "773d318", "ServerIP": "2001:db8::1", name: {
            "ServerMeasurements": [each for each in messages(facts, test) if "TCPInfo" in each],
            "ClientMeasurements": [each for each in messages(facts, test) if "AppInfo" in each],
        }})
        for name, test in (("Download", "download"), ("Upload", "upload"))
    )  # fmt: skip


def ndt5_archive(facts: Facts) -> str:
    return line({
        "ServerIP": "2001:db8::1", "Control": {"UUID": "x"},
        "C2S": {"MeanThroughputMbps": facts.up_bps / 1e6},
        "S2C": {"MeanThroughputMbps": facts.down_bps / 1e6, "MinRTT": round(1e6 * facts.least_ms)},
    })  # fmt: skip


def line(entry: Any) -> str:
    return json.dumps(entry) + "\n"


DIALECTS: dict[str, Callable[[Facts], str]] = {
    "Ookla": OOKLA, "Ookla CSV": ookla_csv, "Ookla text": ookla_text, "speedtest-cli": speedtest_cli,
    "speedtest-cli CSV": speedtest_cli_csv, "speedtest-cli text": speedtest_cli_text,
    "LibreSpeed": librespeed, "LibreSpeed text": librespeed_text,
    "Cloudflare": cloudflare, "fast.com": fast, "ndt7": NDT7, "ndt7, old summary": ndt7_old_summary,
    "ndt7 archive": ndt7_archive, "ndt5 archive": ndt5_archive,
}  # fmt: skip
