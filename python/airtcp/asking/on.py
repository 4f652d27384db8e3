"""Where runs take place, in a module of its own: the options of `airtcp compare` need nothing else."""

from __future__ import annotations

from typing import Literal

On = Literal["sim", "linux", "both"]
