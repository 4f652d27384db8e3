"""Recognises the kind of air from an idle path's round trips.

Each kind has a test of its own, whose null hypothesis is that the air leaves no trace: `wifi.py` looks for
the notch between frames read at once and repeated ones, `lte.py` for steps of 8 ms, `starlink.py` for
changes of level every 15 s. The first two ask whether the round trips have more than one mode (`modes.py`),
which holds whatever their distribution is; the third asks whether the changes have a phase in common.
`air.py` asks all three.

False alarms were counted on simulated paths without such air, normal, uniform, log-normal, autoregressive,
and M/M/1 and M/D/1 queues of random scale: `tests/python/fit/test_kinds.py` does it again. `SURE` is no fit
to them: it was chosen before.
"""

from airtcp.fit.kinds.air import Air, recognise
from airtcp.fit.kinds.verdict import Verdict

__all__ = ["Air", "Verdict", "recognise"]
