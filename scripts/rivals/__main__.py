"""What operators of lossy links can pick, over the same emulated links: the kernel's TCP, and airtcp's ways.

As root, on Linux with nftables: a client, a gateway on each side of the link, and a server, each in a network
namespace of its own, and `airtcpd link` between the gateways. The server sends: in bulk, and answers to
fetches of 10 kB, one connection each, one after the other and eight at once. Every way gets the same links
and seeds; ways take turns, so that whatever disturbs this host disturbs all. What was made is removed, also
after Ctrl-C.

Examples:
  python3 scripts/rivals --airtcpd target/release/airtcpd
  python3 scripts/rivals --airtcpd target/debug/airtcpd --links 'heavy loss' --ways concord,copies --repeats 1
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from links import LINKS, scenario
from measuring import Result, measure
from page import table
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
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="results as JSON; those that are there are kept"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table here, too")
    asked = parser.parse_args()
    results = [Result(**each) for each in json.loads(asked.out.read_text())] if kept(asked.out) else []
    wanted = [
        (link, way, seed)
        for link in chosen(parser, asked.links, LINKS)
        for seed in range(1, asked.repeats + 1)
        for way in chosen(parser, asked.ways, WAYS)
    ]
    done = {(result.link, result.way, result.seed) for result in results}
    for link, way, seed in wanted:
        if (link, way, seed) in done:
            continue
        result = measure(asked.airtcpd.resolve(), link, scenario(link), way, seed, asked.bulk, asked.fetches)
        print(result, file=sys.stderr, flush=True)
        results.append(result)
        if asked.out:
            asked.out.write_text(json.dumps([vars(each) for each in results], indent=1) + "\n")
    text = table(results)
    print(text, end="")
    if asked.page:
        asked.page.write_text(text)


def kept(file: Path | None) -> bool:
    return file is not None and file.exists()


def chosen(parser: argparse.ArgumentParser, text: str, known: Mapping[str, object]) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            parser.error(f"{name!r} is none of {', '.join(known)}")
    return names


if __name__ == "__main__":
    main()
