"""Lengths of headers."""

HEADER_BYTES = 52
"""Headers of IPv4 and TCP with timestamps; also the length of a circuit's header packet."""
IPV6_MORE_BYTES = 20
"""By which IPv6's header is longer than IPv4's."""
