"""What each `ping` would have printed of the same packets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Rtts = Sequence[float | None]
"""In ms, in order of sending; None: lost."""


def linux(rtts: Rtts) -> str:
    lines = ["PING example.org (192.0.2.1) 56(84) bytes of data."]
    lines += [
        f"64 bytes from host.example.org (192.0.2.1): icmp_seq={(n + 1) & 0xFFFF} ttl=56 time={rtt:.3f} ms"
        for n, rtt in enumerate(rtts)
        if rtt is not None
    ]
    return "\n".join([*lines, "", *_summary(rtts, f", time {(len(rtts) - 1) * 1001}ms")])


def linux_stamped(rtts: Rtts) -> str:
    """`ping -D -O`, over IPv6."""
    lines = ["PING example.org (2001:db8::1) 56 data bytes"]
    for n, rtt in enumerate(rtts):
        at_s = 1_700_000_000 + 0.5 * n
        if rtt is None:
            lines.append(f"[{at_s + 0.5:.6f}] no answer yet for icmp_seq={(n + 1) & 0xFFFF}")
        else:
            lines.append(
                f"[{at_s + rtt / 1e3:.6f}] 64 bytes from host.example.org (2001:db8::1): "
                f"icmp_seq={(n + 1) & 0xFFFF} ttl=56 time={rtt:.3f} ms"
            )
    return "\n".join([*lines, "", *_summary(rtts, "")])


def macos(rtts: Rtts) -> str:
    lines = ["PING example.org (192.0.2.1): 56 data bytes"]
    lines += [
        f"Request timeout for icmp_seq {n & 0xFFFF}"
        if rtt is None
        else f"64 bytes from 192.0.2.1: icmp_seq={n & 0xFFFF} ttl=56 time={rtt:.3f} ms"
        for n, rtt in enumerate(rtts)
    ]
    return "\n".join([*lines, "", *_summary(rtts, "", " packets")])


def busybox(rtts: Rtts) -> str:
    lines = ["PING 192.0.2.1 (192.0.2.1): 56 data bytes"]
    lines += [
        f"64 bytes from 192.0.2.1: seq={n & 0xFFFF} ttl=56 time={rtt:.3f} ms"
        for n, rtt in enumerate(rtts)
        if rtt is not None
    ]
    return "\n".join([*lines, "", *_summary(rtts, "", " packets")])


def windows(rtts: Rtts) -> str:
    lines = ["", "Pinging example.org [192.0.2.1] with 32 bytes of data:"]
    lines += [
        "Request timed out."
        if rtt is None
        else f"Reply from 192.0.2.1: bytes=32 time{'<1' if rtt < 1 else f'={rtt:.0f}'}ms TTL=56"
        for rtt in rtts
    ]
    lost = sum(rtt is None for rtt in rtts)
    lines += [
        "",
        "Ping statistics for 192.0.2.1:",
        f"    Packets: Sent = {len(rtts)}, Received = {len(rtts) - lost}, Lost = {lost} ({lost}% loss),",
        "Approximate round trip times in milli-seconds:",
        "    Minimum = 1ms, Maximum = 2ms, Average = 1ms",
    ]
    return "\r\n".join(lines)


def windows_in_another_language(rtts: Rtts) -> str:
    """In one that nobody speaks."""
    text = windows(rtts)
    for word, other in (
        ("Pinging", "Gwok ping"),
        ("with 32 bytes of data", "blu 32 zorn"),
        ("Reply from", "Zax"),
        ("bytes=", "zorn="),
        ("time", "mip"),
        ("Request mipd out.", "Vrum vrum."),
        ("Packets: Sent", "Flim: Gra"),
        ("Received", "Gru"),
        ("Lost", "Gro"),
        ("loss", "flap"),
    ):
        text = text.replace(word, other)
    return text


def hping(rtts: Rtts) -> str:
    """`hping3 -1`; `id=` is another one in each answer."""
    lines = ["HPING example.org (eth0 192.0.2.1): icmp mode set, 28 headers + 0 data bytes"]
    lines += [
        f"len=46 ip=192.0.2.1 ttl=56 id={59000 + n} icmp_seq={n & 0xFFFF} rtt={rtt:.1f} ms"
        for n, rtt in enumerate(rtts)
        if rtt is not None
    ]
    return "\n".join([*lines, "", *_summary(rtts, "", " packets")]).replace("ping stat", "hping stat")


def hping_of_syns(rtts: Rtts) -> str:
    """`hping3 -V -S -p 443`, whose answers have three lines each, without a host's address in the second."""
    lines = ["using eth0, addr: 192.0.2.7, MTU: 1500"]
    lines += ["HPING example.org (eth0 192.0.2.1): S set, 40 headers + 0 data bytes"]
    for n, rtt in enumerate(rtts):
        if rtt is not None:
            lines += [
                f"len=46 ip=192.0.2.1 ttl=56 DF id={n * 7 % 65536} tos=0 iplen=44",
                f"sport=443 flags=SA seq={n & 0xFFFF} win=64240 rtt={rtt:.1f} ms",
                f"seq=1{n}2 ack=2{n}1 sum=1a2b urp=0",
                "",
            ]
    return "\n".join([*lines, "", *_summary(rtts, "", " packets")]).replace("ping stat", "hping stat")


def _summary(rtts: Rtts, time: str, packets: str = "") -> list[str]:
    received = sum(rtt is not None for rtt in rtts)
    share = 100 * (len(rtts) - received) / len(rtts)
    return [
        "--- example.org ping statistics ---",
        f"{len(rtts)} packets transmitted, {received}{packets} received, {share:.6g}% packet loss{time}",
        "rtt min/avg/max/mdev = 1.000/2.000/3.000/0.500 ms",
        "",
    ]


DIALECTS: dict[str, Callable[[Rtts], str]] = {
    function.__name__: function
    for function in (
        linux,
        linux_stamped,
        macos,
        busybox,
        windows,
        windows_in_another_language,
        hping,
        hping_of_syns,
    )
}
