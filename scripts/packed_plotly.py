"""Extracts plotly.js from its package of 64 MB for the wheel: reports need only that script."""

from __future__ import annotations

from airtcp.showing.report.plotly import PACKED, packed


def main() -> None:
    PACKED.write_bytes(packed())
    print(f"{PACKED}: {PACKED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
