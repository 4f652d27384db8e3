"""What features may leave behind: compared before and after them."""

from __future__ import annotations

import re
import subprocess
import time

SYSCTLS = (
    "ipv4/tcp_* ipv4/ip_forward core/default_qdisc core/[rw]mem_*"
    " ipv4/conf/*/{forwarding,rp_filter,route_localnet,accept_local} ipv6/conf/*/{forwarding,disable_ipv6}"
)
# Few programs: under emulation, to start one is what costs.
IN_A_NAMESPACE = f"""
for family in 4 6; do
    printf '%s\\n' 'address show' 'rule show' 'route show table all' | ip -$family -o -force -batch -
done
ip -o link; nft list ruleset; tc qdisc
for device in /proc/sys/net/ipv4/conf/*; do
    echo filter show dev ${{device##*/}} ingress; echo filter show dev ${{device##*/}} egress
done | tc -force -batch - 2>/dev/null
cd /proc/sys/net; grep -s . {SYSCTLS}
"""
OF_THE_HOST = """
find /sys/fs/bpf /run /tmp /var/lib/airtcp; find /sys/fs/cgroup -maxdepth 2 -type d
bpftool prog list | grep '^[0-9]'; bpftool map list | grep '^[0-9]'; ps -e -o comm= | grep -E 'airtcp|nft'
"""
NUMBER = re.compile(r"^\d+: ")
CHANGES_BY_ITSELF = re.compile(r"cache|expires|tcp_(available|allowed)_congestion|valid_lft|stable_secret")
TRIES = 4


def state() -> set[str]:
    """Returns a line for each thing that the machine has."""
    names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout.split()
    found = {f"the guest: {line}" for line in _said(["sh", "-c", OF_THE_HOST])}
    found |= {f"the guest: {line}" for line in _said(["bash", "-c", IN_A_NAMESPACE])}
    for name in names:
        if len(name) == 1:
            inside = ["nsenter", f"--net=/run/netns/{name}", "bash", "-c", IN_A_NAMESPACE]
            found |= {f"{name}: {line}" for line in _said(inside)}
    return found


def differences(before: set[str]) -> tuple[list[str], set[str]]:
    """Returns what is there now and was not, or was and is not; and what is there now.

    Interfaces and programs that are on their way out get time for it.
    """
    for _ in range(TRIES):
        now = state()
        if now == before:
            break
        time.sleep(1)
    gone = [f"gone: {line}" for line in sorted(before - now)]
    return sorted(now - before) + gone, now


def _said(command: list[str]) -> set[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {NUMBER.sub("", line) for line in done.stdout.splitlines() if not CHANGES_BY_ITSELF.search(line)}
