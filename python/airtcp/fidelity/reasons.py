"""Why the simulator differs from the kernel where it does, by scheme: what was found by looking, and how."""

from __future__ import annotations

REASONS: dict[str, str] = {}
