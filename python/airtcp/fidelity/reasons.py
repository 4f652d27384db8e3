"""Why the simulator differs from the kernel where it does, by scheme: what was found by looking, and how."""

from __future__ import annotations

_SMALL_WINDOWS = """\
At 5 % loss a window is a few segments, and whoever sends an odd one waits for a delayed acknowledgment.
The kernel prefers to send two at once (it defers what could be part of a larger segment), so that it
waits less often; the simulator sends what it may."""

REASONS: dict[str, str] = {
    "reno": f"""\
{_SMALL_WINDOWS}
At 50 Mbit/s and 50 ms the ratio is 1.11; with acknowledgments that the simulator delays by 20 ms and not
by 40 it is 1.06, and with none delayed 0.96. At 200 ms 20 s are a hundred round trips with some twenty
losses, and three seeds are few: at 50 Mbit/s the simulator has 0.24, 0.36 and 0.26 Mbit/s where the kernel
has 0.25, 0.38 and 0.33, and over 20 seeds 0.24 to 0.39, on average 0.31.""",
    "cubic": f"""\
{_SMALL_WINDOWS}
At 200 ms the third seed decides: at 10 Mbit/s the simulator has 0.25, 0.35 and 0.24 Mbit/s where the
kernel has 0.26, 0.39 and 0.32; over 20 seeds it has 0.24 to 0.52, on average 0.33.""",
    "bbr": """\
One run of three: at 50 Mbit/s, 200 ms and 5 % the simulator has 35, 36 and 22 Mbit/s, the kernel 37, 37
and 37. Over 20 seeds the simulator has 20 to 37, on average 34.""",
    "westwood-vt": """\
One loss decides a run. It sets the window to the estimated bandwidth only when it judges a loss to be
congestion, which on these paths happens once in 20 s or never; where that is in the first seconds, while the
estimate is still low, the window needs the rest of the run to grow again. At 50 Mbit/s, 200 ms and 0.1 % the
kernel has 24, 43 and 43 Mbit/s and the simulator 42, 43 and 42; of 20 seeds of the simulator two have 12, the
others 40 to 44. At 10 Mbit/s, 200 ms and 5 % it is the simulator's third: 4.4, 4.9 and 1.1 Mbit/s beside the
kernel's 4.4, 4.9 and 4.4; over 20 seeds it has 1.1 to 6.0, on average 4.7.""",
    "spectcp": """\
A few marks decide a run. RED's thresholds, 5 and 15 packets, are a small part of most of these paths, and
its average hardly follows a window: whether a second mark comes while the first is being answered is
chance, and costs half of the window for seconds. Where the average gets beyond the upper threshold RED
drops instead of marking, which SpecTCP takes for corruption: it may stay there to the end and resend a
third of what it sends. At 50 Mbit/s, 10 ms and no loss that gives 48 Mbit/s, and 40 to 41 where it does not
happen: of the simulator's first three seeds it happens in two, on the kernel it did in the one that ran.""",
}
