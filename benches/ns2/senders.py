"""ns-2's senders, the schemes that stand for them, and how a script of ns-2 is run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
NATIVE = "profile=ns2-2.35:receive_window=10MB:window_scaling=true"
# ns-2's Vegas times every segment; with one at a time it would have too few samples, and be Reno.
VEGAS = f"{NATIVE}:rto.timing=every-ack"
LINUX = "profile=linux:packet_size=1040:ack_every=1"
SENDERS = {
    "tahoe": f"tahoe:{NATIVE}",
    "reno": f"reno:{NATIVE}",
    "newreno": f"newreno:{NATIVE}",
    "sack": f"sack:{NATIVE}",
    "vegas": f"vegas:{VEGAS}",
    "westwood": f"westwood-plus:{LINUX}",
    "cubic": f"cubic:{LINUX}",
    "hybla": f"hybla:{LINUX}",
}
"""By ns-2's name.

The last three are of Agent/TCP/Linux, with the kernel's controllers of 2007. Its Westwood+ is not Linux 6's:
at a loss it takes the larger of B·RTTmin and half of cwnd at once, where Linux 6 stays at half of cwnd until
the loss is repaired, which lowers B, too. ns-2's Vegas finds losses by timers of its own and keeps 3/4 of
cwnd; its fast retransmits are not counted.
"""


def ns2(script: str, arguments: Mapping[str, object]) -> dict[str, float]:
    """Runs a script of this folder, and returns the values that it prints."""
    command = ["ns", str(HERE / script), *(str(part) for pair in arguments.items() for part in pair)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    values = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", done.stdout)}
    if done.returncode or not values:
        sys.exit(f"{' '.join(command)}: no result\n{done.stdout}{done.stderr}")
    return values
