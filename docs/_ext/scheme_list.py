"""The references of schemes and profiles, from the catalogue."""

from __future__ import annotations

from markdown import code, paragraph, table

import airtcp
from airtcp._engine import scheme_keys
from airtcp.facts.catalogue import KeyInfo, SchemeInfo

SCHEMES = """# Schemes

A scheme is a sum of terms: `name[:key=value]*` joined by `+`, such as `cubic`, `westwood-vt+packet-control`
or `reno:rto.min=1s+decoupling:controls=2`. Of two names joined, at most one is a congestion control, and at
most one a machine of the base station; what makes no sense together is refused with the reason.
"""
PROFILES = """# Profiles

A profile is what an era's stack did: timers, windows, recovery. A scenario names one (`profile = "linux"`),
and a scheme may change single keys of it.
"""


def schemes_page() -> str:
    """Returns every scheme by its part, with parameters and keys; then the keys of the stack."""
    schemes = airtcp.schemes()
    parts = dict.fromkeys(scheme["part"] for scheme in schemes)
    sections = [
        f"## {part[0].upper()}{part[1:]}\n\n"
        + "\n".join(_scheme(scheme) for scheme in schemes if scheme["part"] == part)
        for part in parts
    ]
    stack = "## Every key of the stack\n\nThey may stand in any term.\n\n" + _keys(scheme_keys())
    return "\n".join([SCHEMES, *sections, stack])


def profiles_page() -> str:
    """Returns every profile."""
    rows = [(code(profile["name"]), paragraph(profile["summary"])) for profile in airtcp.profiles()]
    return f"{PROFILES}\n{table(['profile', 'what it is'], rows)}"


def _scheme(scheme: SchemeInfo) -> str:
    parts = [
        f"### {scheme['name']}",
        f"{paragraph(scheme['summary'])}. Source: {paragraph(scheme['source'])}.",
    ]
    if scheme["changes"]:
        changes = ", ".join(code(f"{key}={value}") for key, value in scheme["changes"].items())
        parts.append(f"Sets {changes}.")
    if scheme["params"]:
        rows = [
            (
                code(one["name"]),
                f"{one['default']:g}",
                f"{one['min']:g} to {one['max']:g}",
                paragraph(one["doc"]),
            )
            for one in scheme["params"]
        ]
        parts.append(table(["parameter", "default", "allowed", "meaning"], rows))
    if scheme["keys"]:
        parts.append(_keys(scheme["keys"]))
    return "\n\n".join(parts) + "\n"


def _keys(keys: list[KeyInfo]) -> str:
    rows = [
        (
            code(key["name"]),
            code(key["default"]) if key["default"] else "",
            _allowed(key),
            paragraph(key["doc"]),
        )
        for key in keys
    ]
    return table(["key", "default", "value", "meaning"], rows)


def _allowed(key: KeyInfo) -> str:
    if key["allowed"]:
        return ", ".join(code(word) for word in key["allowed"])
    return f"e.g. {code(key['example'])}" if key["example"] else ""
