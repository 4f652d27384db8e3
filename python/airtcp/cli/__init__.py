"""The command line."""

from __future__ import annotations

import atexit
import gc
import sys

__all__ = ["main"]


def main() -> None:
    """Exit codes: 0 done, 1 a run of a user's congestion control failed or nothing arrived in any, 2 bad
    input, 130 interrupted."""
    _collect_less_garbage()
    try:
        # Imported here so that Ctrl-C during the import ends without a traceback too.
        from airtcp.cli.app import run_app  # noqa: PLC0415

        run_app()
    except KeyboardInterrupt:
        print("airtcp: interrupted", file=sys.stderr)
        sys.exit(130)


def _collect_less_garbage() -> None:
    """Saves a fifth of a short command's time: nearly all its objects stay, as modules do, to the end."""
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
