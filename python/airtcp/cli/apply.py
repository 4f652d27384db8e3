"""`airtcp apply` and `airtcp undo`, and the options that `airtcp advise --apply` shares with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from airtcp.advise.deployment import Place
from airtcp.cli.console import plain_console
from airtcp.cli.errors import InputError
from airtcp.cli.given import check_excluded
from airtcp.cli.options import choices

if TYPE_CHECKING:
    from airtcp.apply import Site

EXAMPLES = """\b
Examples:
  sudo airtcp apply bbr
  sudo airtcp apply advice.json --role sender --persistent
  sudo airtcp apply 'bbr @ fq-codel' --role gateway --wireless wlan0
  sudo airtcp apply cubic+packet-control --role gateway --wired eth0
  sudo airtcp apply mss-clamp --role gateway
  airtcp apply 'cubic+split:congestion_control=bbr' --format openwrt
"""
UNDO_EXAMPLES = """\b
Examples:
  sudo airtcp undo
"""


def _role(value: str | None) -> str | None:
    """Raises InputError for a place that no host has on a path."""
    if value is not None:
        choices("--role", value, get_args(Place))
    return value


RoleOption = Annotated[
    str | None,
    typer.Option(
        callback=_role,
        metavar="WHAT",
        help="Role of this host on the path: `sender`, `receiver`, `gateway`, or several, comma-separated.  "
        "[default: sender, or the only role in --control; with --format, gateway]",
        show_default=False,
    ),
]
WirelessOption = Annotated[
    str | None,
    typer.Option(metavar="IFACE", help="This host's interface to the lossy link.", show_default=False),
]
WiredOption = Annotated[
    str | None,
    typer.Option(metavar="IFACE", help="This gateway's interface to the fixed hosts.", show_default=False),
]
CgroupOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH", help="For rto-m: the cgroup whose connections get its timer.", show_default=False
    ),
]
CircuitOption = Annotated[
    str | None,
    typer.Option(
        metavar="ARGUMENTS",
        help="For decoupling: the arguments of `airtcpd circuit` or `airtcpd decouple` for this end.",
        show_default=False,
    ),
]
PersistentOption = Annotated[
    bool,
    typer.Option(
        "--persistent",
        help="Persist across reboots: write files under /etc/sysctl.d and /etc/default, and systemd units.",
    ),
]
ApplyOption = Annotated[
    bool,
    typer.Option(
        "--apply",
        help="Then apply it to this host: show the changes, ask, make them, and check. `airtcp undo` reverts "
        "them.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="openwrt",
        help="Only print a setup script for an OpenWrt router, with package names and UCI commands.",
        show_default=False,
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Apply without asking.")]


def command(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="SCHEME|ADVICE",
            help="Scheme to apply, as `airtcp advise` prints it, or an advice.json file; against a path-MTU "
            "black hole, `mtu-probing` (sender) or `mss-clamp` (gateway).",
        ),
    ],
    role: RoleOption = None,
    wireless: WirelessOption = None,
    wired: WiredOption = None,
    cgroup: CgroupOption = None,
    circuit: CircuitOption = None,
    persistent: PersistentOption = False,
    yes: YesOption = False,
    form: FormatOption = None,
) -> None:
    """Apply a scheme to this host: show the changes, ask, make them, and check that they took effect.

    Saves the previous state to disk (/var/lib/airtcp) before each change, so that `airtcp undo` can restore
    it, even if this command is killed halfway. Only one scheme is applied at a time. Needs root.
    """
    check_format(form)
    check_excluded(context, "form", ["persistent", "yes"])

    from airtcp.apply.cures import home  # noqa: PLC0415 as below
    from airtcp.cli import applying  # noqa: PLC0415 it loads what advice is made with

    advice = applying.read_advice(Path(what)) if what.endswith(".json") else None
    use = str(advice["recommendation"]["use"]) if advice else what
    site = site_of(role, wireless, wired, cgroup, circuit, persistent)
    wanted = site.wanted(use, own="gateway" if form else home(use) or "sender")
    if form:
        applying.print_openwrt(wanted, None)
        return
    console = plain_console()
    if advice:
        applying.show_premises(console, advice)
    applying.apply_here(console, wanted, yes=yes)


def undo() -> None:
    """Undo what was applied to this host, completely or partially, even after a reboot.

    Settings that someone else has changed since are kept and listed. Needs root.
    """
    from airtcp.cli import applying  # noqa: PLC0415 as above

    applying.undo_here()


def site_of(
    role: str | None,
    wireless: str | None,
    wired: str | None,
    cgroup: str | None,
    circuit: str | None,
    persistent: bool,
) -> Site:
    """Returns this host on the path, as the options describe it."""
    from airtcp.apply import Site  # noqa: PLC0415 as above

    places = frozenset(choices("--role", role or "", get_args(Place)))
    return Site(
        role=places, wireless=wireless, wired=wired, cgroup=cgroup, circuit=circuit, persistent=persistent
    )


def check_format(form: str | None) -> None:
    """Refuses an unknown output format. Raises InputError."""
    if form not in (None, "openwrt"):
        raise InputError(f"--format {form}: only openwrt is supported")
