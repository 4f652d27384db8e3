"""Why the simulator differs from the kernel where it does, by scheme: what was found by looking, and how."""

from __future__ import annotations

_COMPRESSION = """\
While a hole is open, the kernel's receiver holds acknowledgments back for up to a millisecond and lets
one stand for several segments (SACK compression, `net.ipv4.tcp_comp_sack_nr`); the simulator's sends one
a segment. That shows where packets come more often than once a millisecond, from some 12 Mbit/s on."""

REASONS: dict[str, str] = {
    "cubic": """\
The simulator follows RFC 9438 §4.3: once the Reno-friendly window is as large as that before the loss,
it grows by a whole segment a round trip (α = 1). Linux keeps the smaller α. It shows where losses are so
frequent that CUBIC does not leave that region; without random loss both agree.""",
    "bbr": """\
At a round trip of 200 ms and 5 % loss the kernel's BBR either fills the link or stays far below: at
50 Mbit/s two runs gave 36 and 38 Mbit/s, and two with other receivers (a smaller first buffer; no SACK
compression) gave 5, all with the same seed. Why it sometimes stays there was not found.""",
    "westwood-vt": f"""\
{_COMPRESSION}
WestwoodVT counts at most two segments an acknowledgment, as its authors' code does, so
that its estimate of the bandwidth falls: at 50 Mbit/s, 50 ms and 1 % there were 14 815 acknowledgments
of 50 690 segments, and 99 segments of ssthresh; in the simulator 74 667 of 80 853, and 198. One run with
the compression switched off gave 40 Mbit/s instead of 25; the simulator has 46.""",
    "spectcp": f"""\
{_COMPRESSION}
SpecTCP is in recovery nearly all the time on such paths, for it does not slow down. One run at
50 Mbit/s, 50 ms and 5 % with the compression switched off gave 10.9 Mbit/s instead of 9.6, so that it
explains little there. The kernel also lets no window grow for a round trip after ECN-Echo (state CWR),
which costs most where round trips are long. And runs scatter: 10 Mbit/s, 200 ms and no loss gave 4.4
and 6.2 Mbit/s with the same seed. What else is behind it was not found.""",
}
