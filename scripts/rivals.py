"""What operators of lossy links can pick, over the same emulated links: the kernel's TCP, and airtcp's ways.

As root, on Linux with nftables: a client, a gateway on each side of the link, and a server, each in a network
namespace of its own, and `airtcpd link` between the gateways. The server sends: in bulk, and answers to
fetches of 10 kB, one connection each, one after the other and eight at once. Every way gets the same links
and seeds; ways take turns, so that whatever disturbs this host disturbs all. What was made is removed, also
after Ctrl-C.

Examples:
  python3 scripts/rivals.py --airtcpd target/release/airtcpd
  python3 scripts/rivals.py --airtcpd target/debug/airtcpd --links "1 % loss" --ways concord,copies
"""

from __future__ import annotations

import argparse
import platform
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.append(str(Path(__file__).with_suffix("")))
from links import LINKS
from measuring import Record, measure
from rivals_page import page, table
from ways import WAYS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--airtcpd", type=Path, required=True, metavar="FILE", help="the program to try")
    parser.add_argument("--links", default=",".join(LINKS), metavar="A,B,…", help="default: %(default)s")
    parser.add_argument("--ways", default=",".join(WAYS), metavar="A,B,…", help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--bulk", type=float, default=20.0, metavar="SECONDS", help="default: %(default)s")
    parser.add_argument("--fetches", type=int, default=100, help="default: %(default)s")
    parser.add_argument("--record", type=Path, metavar="FILE", help="results as JSON; those there are kept")
    parser.add_argument("--page", type=Path, metavar="FILE", help="writes the page here")
    asked = parser.parse_args()
    record = begun(asked)
    wanted = [
        (link, way, seed)
        for link in chosen(parser, asked.links, LINKS)
        for seed in range(1, asked.repeats + 1)
        for way in chosen(parser, asked.ways, WAYS)
    ]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for link, way, seed in wanted:
        if record.has(link, way, seed):
            continue
        result = measure(asked.airtcpd.resolve(), record, link, way, seed)
        print(result, file=sys.stderr, flush=True)
        record.results.append(result)
        if asked.record:
            record.write(asked.record)
    print(table(record.results), end="")
    if asked.page:
        asked.page.write_text(page(record), encoding="utf-8")


def begun(asked: argparse.Namespace) -> Record:
    """What was measured before, or nothing yet."""
    if asked.record and asked.record.exists():
        return Record.read(asked.record)
    git = ["git", "-C", str(Path(__file__).parent), "log", "-1", "--format=%h"]
    revision = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    return Record(platform.release(), revision, asked.bulk, asked.fetches)


def chosen(parser: argparse.ArgumentParser, text: str, known: Mapping[str, object]) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            parser.error(f"{name!r} is none of {', '.join(known)}")
    return names


if __name__ == "__main__":
    main()
