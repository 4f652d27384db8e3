"""What a feature may leave behind: compared before and after it."""

from __future__ import annotations

import re
import subprocess
import time

SYSCTLS = r"^net\.(ipv4\.(tcp_|conf|ip_forward)|ipv6\.conf|core\.(default_qdisc|[rw]mem))"
IN_A_NAMESPACE = f"""
ip -o link; ip -o address; ip rule; ip -6 rule; ip route show table all; ip -6 route show table all
nft list ruleset; tc qdisc
for device in $(ip -o link | cut -d: -f2 | cut -d@ -f1); do
    tc filter show dev $device ingress; tc filter show dev $device egress
done
sysctl -a -r '{SYSCTLS}'
"""
OF_THE_HOST = """
find /sys/fs/bpf /run /tmp /var/lib/airtcp; find /sys/fs/cgroup -maxdepth 2 -type d
bpftool prog list | grep '^[0-9]'; bpftool map list | grep '^[0-9]'; ps -e -o comm= | grep -E 'airtcp|nft'
"""
NUMBER = re.compile(r"^\d+: ")
CHANGES_BY_ITSELF = re.compile(r"cache|expires|tcp_(available|allowed)_congestion|valid_lft|stable_secret")
PATIENCE_S = 10


def state() -> set[str]:
    """Returns a line for each thing that the machine has."""
    names = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout.split()
    found = {f"the guest: {line}" for line in _said(["sh", "-c", OF_THE_HOST])}
    found |= {f"the guest: {line}" for line in _said(["sh", "-c", IN_A_NAMESPACE])}
    for name in names:
        if len(name) == 1:
            inside = ["nsenter", f"--net=/run/netns/{name}", "sh", "-c", IN_A_NAMESPACE]
            found |= {f"{name}: {line}" for line in _said(inside)}
    return found


def differences(before: set[str]) -> tuple[list[str], set[str]]:
    """Returns what is there now and was not, or was and is not; and what is there now.

    Interfaces and programs that are on their way out get time for it.
    """
    for _ in range(PATIENCE_S * 2):
        now = state()
        if now == before:
            break
        time.sleep(0.5)
    gone = [f"gone: {line}" for line in sorted(before - now)]
    return sorted(now - before) + gone, now


def _said(command: list[str]) -> set[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {NUMBER.sub("", line) for line in done.stdout.splitlines() if not CHANGES_BY_ITSELF.search(line)}
