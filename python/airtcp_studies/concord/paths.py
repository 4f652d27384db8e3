"""The paths on which Concord is judged, and those on which it was tuned."""

from __future__ import annotations

from pathlib import Path

import airtcp

ALONE = '[[flow]]\nname = "download"\n'
FOUR = '[[flow]]\nname = "download"\ncount = 4\nstagger = "1s"\n'
WEB = (
    '[[flow]]\nname = "competitor"\nscheme = "cubic"\nmeasure = false\n'
    'traffic = { kind = "poisson", interval = "2s", size = "60kB" }\n'
)
HOST = 'distribution = "uniform", high = "0.2ms", overtaking = false'
"""A host's contribution to the delay; without it all seeds of a path without corruption would give the
same run."""
PROFILE = 'profile = "linux"\n'
WIRED = f'{PROFILE}[[link]]\nname = "wired"\nrate = "100Mbit/s"\ndelay = "10ms"\n'
"""A link before the wireless one, so that there is a node between sender and loss."""
READY_MADE = ("wifi", "3g", "lte", "geo-satellite", "leo-satellite")

TUNING = """\
Tuned on seeds 1 to 6 of 10 Mbit/s paths: BER 1e-6 to 1e-5 at RTT 10 to 200 ms; beside one CUBIC flow at
RTT 20, 50 and 100 ms with room for 10 to 332 packets, behind CoDel and RED; four of its own at RTT 50 ms;
jitter of 2, 10 and 40 ms; loss of 1, 2 and 5 % and in bursts; the ready-made scenarios; three capacity
traces. It was judged on seeds 101 to 110 once, which led to changes (a competition without a rival ends,
whatever is lost; half a packet more of margin), and on seeds 201 to 210 again, which led to others (what
corruption takes off a rate by chance is no fall of it; more evidence before corruption is ruled out or
refuted; a hand-over costs a window once; delay is doubted for some seconds at most), each tuned on seeds 1
to 20, and on seeds 301 to 310 a third time, which led to the last (a yield gains nothing only if delay stays,
too; only a yield to delay makes delay doubted, and for longer), tuned on seeds 1 to 6. How it begins on paths
of 20 Mbit/s and 200 ms that lose up to 25 % was changed later, on seeds 1 to 6, with an eye on four of its
own before 8 and 20 packets (seeds 1 to 24). Nothing was tuned on web transfers or on the seeds of this page;
the paths called *unseen* have been seen at those judgings."""


def path(
    rtt_ms: float,
    queue: str = "packets = 50",
    *,
    rate: str = "10Mbit/s",
    loss: str = "",
    jitter: str = "",
    profile: str = PROFILE,
) -> str:
    """One link, without flows."""
    lines = [
        "[[link]]",
        'name = "wireless"',
        f'rate = "{rate}"',
        f'delay = "{rtt_ms / 2}ms"',
        f"queue = {{ {queue} }}",
    ]
    if loss:
        lines.append(f"loss = {{ {loss} }}")
    if jitter:
        lines.append(f"jitter = {{ {jitter} }}")
    return profile + "\n".join(lines) + "\n"


def alone(text: str) -> str:
    return text + ALONE


def uniform(high_ms: float) -> str:
    return f'distribution = "uniform", high = "{high_ms}ms", overtaking = false'


def ready_made() -> dict[str, str]:
    """Returns the paths in the source tree; none outside of one."""
    folder = Path(airtcp.__file__).resolve().parents[2] / "scenarios"
    files = {name: folder / f"{name}.toml" for name in READY_MADE}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.exists()}


def traces(folder: Path) -> dict[str, str]:
    """Returns a path for each pair NAME.down and NAME.up in mahimahi's format."""
    return {
        down.stem: alone(
            'profile = "linux"\n[[link]]\nname = "cell"\ndelay = "20ms"\n'
            f'jitter = {{ {HOST} }}\nqueue = {{ packets = 500 }}\ntrace = "{down}"\n'
            f'reverse = {{ trace = "{down.with_suffix(".up")}" }}\n'
        )
        for down in sorted(folder.resolve().glob("*.down"))
    }
