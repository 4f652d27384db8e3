"""What `iw` and ModemManager print becomes facts of a measurement, and those the kind of air of its fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from airtcp.fit import fit
from airtcp.fit.document import fit_document
from airtcp.fit.radio import Radio, radio_of
from airtcp.measure import Wanted, measure, radio
from airtcp.measure.book import Book
from airtcp.measure.prober import Answer
from airtcp.measure.radio import cell, wifi
from airtcp.measure.sockets import resolve

LINK = """Connected to 02:00:00:00:00:01 (on wlan0)
\tSSID: tx bitrate: 1.0 MBit/s
\tfreq: 5180
\tRX: 91245 bytes (604 packets)
\tTX: 10345 bytes (89 packets)
\tsignal: -57 dBm
\trx bitrate: 292.5 MBit/s VHT-MCS 7 80MHz VHT-NSS 1
\ttx bitrate: 325.0 MBit/s VHT-MCS 7 80MHz short GI VHT-NSS 1

\tbss flags:\tshort-slot-time
"""
STATION = """Station 02:00:00:00:00:0{number} (on wlan0)
\tinactive time:\t12 ms
\ttx packets:\t89
\ttx retries:\t{retries}
\ttx failed:\t2
\tsignal:  \t-54 [-57, -58] dBm
\tsignal avg:\t-55 dBm
\ttx bitrate:\t{rate}
\trx bitrate:\t6.0 MBit/s
"""
HE = "1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0"
HT = "130.0 MBit/s MCS 15"
MODEM = """  -----------------------------
  System   |         drivers: qmi_wwan, option
           |           ports: cdc-wdm0 (qmi), ttyUSB2 (at), wwan0 (net)
  -----------------------------
  Status   |           state: connected
           |     access tech: {technology}
           |  signal quality: 67% (recent)
"""
SIGNAL = """  ----------------------
  Refresh | rate: 5 seconds
  ----------------------
  LTE     | rssi: -63.00 dBm
          | rsrq: -9.00 dB
          | rsrp: -92.00 dBm
          |  s/n: 14.20 dB
  ----------------------
  5G      | rsrq: -11.00 dB
          | rsrp: -101.00 dBm
          |  s/n: 3.50 dB
"""


def station(number: int = 1, *, retries: int = 9, rate: str = HE) -> str:
    return STATION.format(number=number, retries=retries, rate=rate)


def test_a_station_tells_signal_and_rates() -> None:
    found = wifi(LINK, station())
    assert found is not None
    assert (found.kind, found.by) == ("Wi-Fi", "iw")
    assert dict(found.figures) == {
        "signal_dbm": -54,
        "retries": 9,
        "failed": 2,
        "rx_mbps": 6,
        "tx_mbps": 1200.9,
        "mcs": 11,
        "width_mhz": 80,
        "streams": 2,
    }


def test_versions_differ() -> None:
    of_n, of_g = wifi("", station(rate=HT)), wifi("", station(rate="54.0 MBit/s"))
    assert of_n is not None
    assert (of_n.figures["mcs"], of_n.figures["streams"]) == (15, 2)
    assert of_g is not None
    assert "mcs" not in of_g.figures
    alone = wifi(LINK, "")
    assert alone is not None
    assert (alone.figures["signal_dbm"], alone.figures["streams"]) == (-57, 1)
    # The name of a network is no line of its own.
    assert alone.figures["tx_mbps"] == 325
    assert wifi("Not connected.\n", "") is None
    # Of an access point's stations, nobody knows which the host is.
    several = wifi("", station(1) + station(2))
    assert several is not None
    assert not several.figures


def test_a_modem_tells_its_cell() -> None:
    lte, nr = (cell(MODEM.format(technology=name), SIGNAL) for name in ("lte", "lte, 5gnr"))
    assert lte is not None
    assert (lte.kind, dict(lte.figures)) == ("LTE", {"rsrp_dbm": -92, "rsrq_db": -9, "snr_db": 14.2})
    assert nr is not None
    assert (nr.kind, nr.figures["rsrp_dbm"]) == ("5G", -101)
    # Older versions quote values, and name the ratio otherwise.
    old = cell(
        "  Status |  access tech: 'umts, hsdpa'\n", "  UMTS | rscp: '-80.0' dBm\n       | snr: '4.5' dB\n"
    )
    assert old is not None
    assert (old.kind, dict(old.figures)) == ("3G", {"snr_db": 4.5})
    assert cell(MODEM.format(technology="unknown"), SIGNAL) is None
    unknown = cell(MODEM.format(technology="lte"), "  LTE | rsrp: --\n")
    assert unknown is not None
    assert not unknown.figures


mutated = st.one_of(
    st.text(),
    st.tuples(
        st.sampled_from([LINK, station(), MODEM, SIGNAL]), st.integers(0, 400), st.text(max_size=20)
    ).map(lambda each: each[0][: each[1]] + each[2] + each[0][each[1] :]),
)


@given(mutated, mutated)
@example(station(rate="9" * 40 + " MBit/s MCS " + "9" * 40), "")
def test_no_text_is_too_odd(first: str, second: str) -> None:
    for found in (wifi(first, second), cell(first, second)):
        if found is not None:
            assert radio_of(found.fact) == found
            assert not set(found.fact) & set(" \n\t=#") - {"="}


@given(st.text())
@example("Wi-Fi:iw:mcs=nan,signal_dbm=1e999,other=1,mcs")
def test_no_fact_is_too_odd(fact: str) -> None:
    found = radio_of(fact)
    assert found is None or radio_of(found.fact) == found


class Silent:
    """Watches without a word."""

    def phase(self, title: str, of_s: float | None = None) -> None: ...

    def update(self, book: Book) -> None: ...

    def note(self, text: str) -> None: ...


def test_a_measurement_records_its_radio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter([Radio("Wi-Fi", "iw", {"retries": number}) for number in (5.0, 8.0)])
    monkeypatch.setattr(radio, "ask", lambda _: next(said))
    measure(Wanted(resolve("127.0.0.1"), tmp_path, for_s=1.0), Silent())
    log = tmp_path / "probes.csv"
    assert "radio_before=Wi-Fi:iw:retries=5 " in log.read_text()
    assert fit(log).measurements[0].radio == Radio("Wi-Fi", "iw", {"retries": 3})


def test_what_is_not_there_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    host = resolve("127.0.0.1")
    monkeypatch.setattr(radio, "device_to", lambda _: "wlan0")
    monkeypatch.setattr(radio, "_said", lambda *_: "")
    assert radio.ask(host) is None
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert "`iw` is not installed" in radio.missing(host)
    monkeypatch.setattr(radio, "device_to", lambda _: "eth0")
    assert radio.missing(host) == ""


def test_a_modem_is_asked_only_about_its_own_device(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"iw": "", "mmcli": MODEM.format(technology="lte")}
    monkeypatch.setattr(radio, "_said", lambda program, *_: said[program])
    found = {}
    for device in ("wwan0", "eth0"):
        monkeypatch.setattr(radio, "device_to", lambda _, device=device: device)
        found[device] = radio.ask(resolve("127.0.0.1"))
    assert found["wwan0"] is not None
    assert found["wwan0"].kind == "LTE"
    assert found["eth0"] is None


def test_the_fit_of_a_measurement_knows_its_radio(tmp_path: Path) -> None:
    before, after = wifi("", station(retries=9)), wifi("", station(retries=21))
    assert before is not None
    assert after is not None
    book, random = Book("none"), np.random.default_rng(1)
    for sequence in range(200):
        book.sent(sequence, 1_790_000_000_000_000_000 + sequence * 50_000_000, 84)
        book.answered(Answer(sequence, int(random.normal(20e6, 1e5))))
    log = tmp_path / "probes.csv"
    facts = {"host": "h", "by": "ping", "radio_before": before.fact, "radio_after": after.fact}
    log.write_text("\n".join(book.lines(facts)) + "\n")
    fitted = fit(log)
    told = fitted.kinds[0]
    assert (told.kind, told.certainty, told.p) == ("Wi-Fi", "sure", None)
    assert [verdict.kind for verdict in fitted.kinds] == ["Wi-Fi", "LTE", "Starlink"]
    # The counts are of the time between the two.
    assert "Kind of air: Wi-Fi, sure: by iw, signal -54 dBm" in "\n".join(fitted.summary())
    assert "12 frames sent again, 0 given up" in told.why
    assert "kind of air: Wi-Fi, sure" in " ".join(fitted.toml.replace("# ", "").split())
    assert fit_document(fitted).radio == Radio("Wi-Fi", "iw", {**after.figures, "retries": 12, "failed": 0})
    assert fitted.measurements[0].round_trips is not None
    assert fitted.measurements[0].round_trips.began_s == pytest.approx(1.79e9)
    json.dumps(dict(fit_document(fitted).radio.figures))  # type: ignore[union-attr]
