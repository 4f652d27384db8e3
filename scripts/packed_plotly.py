"""Takes plotly.js out of its package, for the wheel: reports need that script alone, of 64 MB."""

from __future__ import annotations

from airtcp.showing.report.plotly import PACKED, packed


def main() -> None:
    PACKED.write_bytes(packed())
    print(f"{PACKED}: {PACKED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
