"""From a path to an answer: what to use on it, what that needs and risks, and where the answer would change.

advice = airtcp.advise(airtcp.Scenario.load("scenarios/wifi.toml"), control=["sender"])
print(advice)
"""

from __future__ import annotations

from airtcp.advise.advice import Advice, advice_schema
from airtcp.advise.ask import advise
from airtcp.advise.candidates import CONTROLS, Control
from airtcp.advise.inquiry import Traffic

__all__ = ["CONTROLS", "Advice", "Control", "Traffic", "advice_schema", "advise"]
