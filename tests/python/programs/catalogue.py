"""What `programs.toml` says. Run as a program, it lists the packages that are needed."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).with_name("programs.toml")
WAYS = {
    "link": "the link alone",
    "proxy": "`airtcpd proxy run`",
    "own": "`airtcpd proxy run --wireless-stack own`",
    "decouple": "`airtcpd decouple`",
}
"""What is between the client and the server, beside a lossy link."""


@dataclass(frozen=True)
class Server:
    name: str
    packages: list[str]
    run: str
    behind: str = ""
    """A server that must be there first."""


@dataclass(frozen=True)
class Program:
    name: str
    does: str
    packages: list[str]
    server: str
    run: str
    core: bool = False
    """Whether `make test` tries it."""
    known: dict[str, str] = field(default_factory=dict)
    """Why it fails, by way."""

    @property
    def label(self) -> str:
        return f"{self.name} {self.server}".replace(" ", "-").replace(",", "")


def catalogue() -> tuple[dict[str, Server], list[Program]]:
    """Raises TypeError where a key is missing or unknown."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    servers = {name: Server(name=name, **keys) for name, keys in content["server"].items()}
    return servers, [Program(**keys) for keys in content["program"]]


def packages() -> set[str]:
    servers, programs = catalogue()
    lists = [each.packages for each in servers.values()] + [each.packages for each in programs]
    return {package for each in lists for package in each}


if __name__ == "__main__":
    print(*sorted(packages()))
