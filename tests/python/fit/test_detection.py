"""Every format is recognised as its own, and by no other reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dialects import DIALECTS
from hypothesis import given, settings
from hypothesis import strategies as st
from speed_test_dialects import DIALECTS as SPEED_TESTS
from speed_test_dialects import Facts
from test_fuzz import VALID

from airtcp.fit.detect import _SURE_ENOUGH, _TELLS_APART
from airtcp.fit.readers import readers

FACTS = Facts(down_bps=4e7, up_bps=8e6, idle_ms=23.5, least_ms=22.0)
FILES = {**VALID, **{name: dialect(FACTS).encode() for name, dialect in SPEED_TESTS.items()}}


def owner(name: str) -> str:
    """Returns the format of a file of that name."""
    if name in SPEED_TESTS:
        return "speedtest"
    return "ping" if name in DIALECTS else name.split(maxsplit=1)[0]


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda data: data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "blank lines around": lambda data: b"\n\n" + data + b"\n\n",
    "cut in its last line": lambda data: data[:-2],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_of_its_own_format_and_no_other(name: str, change: str) -> None:
    start = CHANGES[change](FILES[name])
    scores = {reader.name: reader.recognises(start) for reader in readers()}
    own = scores.pop(owner(name))
    assert own >= _SURE_ENOUGH
    assert max(scores.values()) <= own - _TELLS_APART, scores


@given(data=st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
@settings(max_examples=200)
def test_any_bytes_get_a_score(data: bytes) -> None:
    assert all(0 <= reader.recognises(data) <= 1 for reader in readers())
