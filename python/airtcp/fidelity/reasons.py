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
    "westwood-vt": f"""\
{_COMPRESSION}
WestwoodVT counts at most two segments an acknowledgment, as its authors' code does, so
that its estimate of the bandwidth falls: at 50 Mbit/s, 50 ms and 1 % there were 14 815 acknowledgments
of 50 690 segments, and 99 segments of ssthresh; in the simulator 74 667 of 80 853, and 198. One run with
the compression switched off gave 40 Mbit/s instead of 25; the simulator has 46.""",
    "spectcp": """\
A few marks decide a run. RED's thresholds, 5 and 15 packets, are a small part of most of these paths, and
its average hardly follows a window: whether a second mark comes while the first is being answered is
chance, and costs half of the window for seconds. Where the average gets beyond the upper threshold RED
drops instead of marking, which SpecTCP takes for corruption: it may stay there to the end and resend a
third of what it sends. At 10 Mbit/s, 50 ms and no loss that gives 9.5 Mbit/s, and 7.9 to 8.6 where it does
not happen; both are met on the kernel with the same seed, and in the simulator with different ones.
At 50 Mbit/s 15 packets are 3.6 ms: where the machine stops the emulator or the sender for so long, what
has waited leaves as a burst and is marked. The simulator has no such pauses.""",
}
