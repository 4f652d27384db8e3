"""Two known paths that really run: from namespaces, through people's tools, to the claims of the fits."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from airtcp_studies.calibration.claims import Told
from airtcp_studies.calibration.journal import Studied
from airtcp_studies.calibration.paths import real_path
from airtcp_studies.calibration.real.measuring import Extent, measure
from airtcp_studies.calibration.real.study import study_files
from airtcp_studies.calibration.real.tools import NEEDS, PROBE_BYTES

from airtcp.linux.airtcpd import Airtcpd

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        not all(map(shutil.which, NEEDS)), reason=f"skipped: not all here: {', '.join(NEEDS)}"
    ),
]
SMALL = Extent(probes=50, spacing_s=0.02, transfer_s=1.5, few=20)
HOSTS_S = dict.fromkeys(PROBE_BYTES, 0.0001)


def studied(airtcpd: Airtcpd, folder: Path, number: int, **changes: object) -> Studied:
    path = replace(real_path(number), **changes)  # type: ignore[arg-type]
    measure(path, folder, airtcpd, SMALL)
    return study_files(path, folder, HOSTS_S)


def test_a_path_is_run_and_fitted(airtcpd: Airtcpd, tmp_path: Path) -> None:
    ran = studied(
        airtcpd, tmp_path, 1, tools=("ping", "irtt", "capture"), rate_bps=8e6, delay_s=0.01, loss=0.0
    )
    assert {claim.tool for claim in ran.claims} == {"ping", "irtt", "capture"}
    # The packets come through the emulator, and over nothing else.
    bases = [claim for claim in ran.claims if claim.quantity == "round trip without a queue"]
    assert len(bases) == 3
    for claim in bases:
        assert claim.high is not None
        assert 0.02 < claim.high < 0.03
    (rate,) = (claim for claim in ran.claims if claim.quantity == "rate")
    assert rate.low == pytest.approx(8e6, rel=0.1)
    link = json.loads((tmp_path / "link.json").read_text())
    assert link["ways"][0]["delivered_packets"] > 500
    assert ran.circumstances is not None


def test_a_hole_is_found(airtcpd: Airtcpd, tmp_path: Path) -> None:
    ran = studied(airtcpd, tmp_path, 7, tools=("two pings",), delay_s=0.005, loss=0.0)
    assert ran.path.limit == "hole"
    assert Told("hole", "two pings", True, True) in ran.told
    assert not ran.claims
