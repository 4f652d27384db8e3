"""Messages between `airtcp measure` and its server, over UDP.

A message is a kind (1 byte), a session (4), a body whose layout the kind tells, padding, and at its end a
code (12) by which who knows the key tells that it is genuine: HMAC-SHA-256 over all before it, cut off.
Before there is a session its number is 0, and the key is the token.

    HELLO   →  nonce, padding                  who has no token gets no answer to anything
            ←  COOKIE   nonce, cookie          no longer than the HELLO; the cookie is bound to the address
    OPEN    →  nonce, cookie                   so that nobody opens a session for somebody else's address
            ←  OPENED   nonce, nonce, machine, clock error, limit, or REFUSED
    PROBE   →  sequence, sent                  padded to the length that is wanted
            ←  ECHO     sequence, sent, received, replied, which of the 64 up to it arrived;   as long as it
    ASK     →  first                           which probes have arrived?
            ←  ARRIVALS first, a bit a probe
    TRAIN   →  train, index, sent              back to back
    TIMES   →  train, first                    when did they arrive?
            ←  ARRIVED  train, first, total, (index, time) each
    SEND    →  train, count, length            the same from the server: TRAIN, TRAIN, …
            ←  WAIT     train, ms              not so soon: the limit
    CLOSE   →

All numbers are big-endian; times are ns since 1970.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass
from enum import IntEnum

CODE_BYTES = 12
NONCE_BYTES = COOKIE_BYTES = MACHINE_BYTES = 16
HELLO_BYTES = 128
"""Length of a HELLO; its answer is no longer."""
MOST_SEQUENCES = 1 << 18
"""Limit per session: 3½ hours at 20 a second."""
ARRIVALS_BYTES = 1000
"""Length of the bit field in one message."""
TIMES_AT_ONCE = 100
MOST_IN_A_TRAIN = 1024
LEAST_TOKEN = 12
"""In characters: a shorter token could be guessed."""
UNKNOWN_ERROR = 0xFFFFFFFF

HEAD = struct.Struct("!BI")
HELLO = struct.Struct(f"!{NONCE_BYTES}s")
COOKIE = struct.Struct(f"!{NONCE_BYTES}s{COOKIE_BYTES}s")
OPENED = struct.Struct(f"!{NONCE_BYTES}s{NONCE_BYTES}s{MACHINE_BYTES}sIQ")
"""The client's nonce, the server's nonce, a digest unique to the machine, the clock's error in µs, and the
limit on what a client is sent, in bit/s."""
PROBE = struct.Struct("!IQ")
ECHO = struct.Struct("!IQQQQ")
ASK = struct.Struct("!I")
TRAIN = struct.Struct("!HHQ")
TIMES = struct.Struct("!HH")
ARRIVED = struct.Struct("!HHH")
ARRIVAL = struct.Struct("!HQ")
SEND = struct.Struct("!HHH")
WAIT = struct.Struct("!HI")
REFUSED = struct.Struct(f"!{NONCE_BYTES}s")


class Kind(IntEnum):
    """The kind of a message."""

    HELLO = 1
    COOKIE = 2
    OPEN = 3
    OPENED = 4
    REFUSED = 5
    PROBE = 6
    ECHO = 7
    ASK = 8
    ARRIVALS = 9
    TRAIN = 10
    TIMES = 11
    ARRIVED = 12
    SEND = 13
    WAIT = 14
    CLOSE = 15


_LEAST_BODY = {
    Kind.HELLO: HELLO.size,
    Kind.COOKIE: COOKIE.size,
    Kind.OPEN: COOKIE.size,
    Kind.OPENED: OPENED.size,
    Kind.REFUSED: REFUSED.size,
    Kind.PROBE: PROBE.size,
    Kind.ECHO: ECHO.size,
    Kind.ASK: ASK.size,
    Kind.ARRIVALS: ASK.size,
    Kind.TRAIN: TRAIN.size,
    Kind.TIMES: TIMES.size,
    Kind.ARRIVED: ARRIVED.size,
    Kind.SEND: SEND.size,
    Kind.WAIT: WAIT.size,
    Kind.CLOSE: 0,
}


@dataclass(frozen=True, slots=True)
class Message:
    """A well-formed message; `is_genuine` verifies its code."""

    kind: Kind
    session: int
    body: bytes
    """Includes the padding."""
    signed: bytes
    code: bytes

    def is_genuine(self, key: bytes) -> bool:
        """Returns whether it was made by a holder of the key and is unchanged."""
        return hmac.compare_digest(self.code, _code(key, self.signed))


def message(kind: Kind, session: int, key: bytes, body: bytes = b"", length: int = 0) -> bytes:
    """Returns the message as sent, padded to at least `length` bytes."""
    signed = HEAD.pack(kind, session) + body
    signed = signed.ljust(max(0, length - CODE_BYTES), b"\0")
    return signed + _code(key, signed)


def parse(data: bytes) -> Message | None:
    """Returns None if it is too short or of an unknown kind."""
    signed, code = data[:-CODE_BYTES], data[-CODE_BYTES:]
    if len(signed) < HEAD.size:
        return None
    kind, session = HEAD.unpack_from(signed)
    try:
        known = Kind(kind)
    except ValueError:
        return None
    body = signed[HEAD.size :]
    return Message(known, session, body, signed, code) if len(body) >= _LEAST_BODY[known] else None


def session_key(token: bytes, nonce: bytes, server_nonce: bytes) -> bytes:
    """Returns the key of one session, for which messages recorded in another are invalid."""
    return hmac.digest(token, b"session" + nonce + server_nonce, hashlib.sha256)


def _code(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, signed, hashlib.sha256)[:CODE_BYTES]
