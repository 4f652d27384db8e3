"""`ping` of every system, line by line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from airtcp.fit import detect
from airtcp.fit.measurement import Measurement, RoundTrips
from airtcp.fit.readers import FileError

Read = Callable[[str | bytes], Measurement]

LINUX = """\
PING example.org (192.0.2.1) 56(84) bytes of data.
64 bytes from host.example.org (192.0.2.1): icmp_seq=1 ttl=56 time=12.3 ms
64 bytes from host.example.org (192.0.2.1): icmp_seq=2 ttl=56 time=14.3 ms
64 bytes from host.example.org (192.0.2.1): icmp_seq=4 ttl=56 time=12.9 ms

--- example.org ping statistics ---
6 packets transmitted, 3 received, 50% packet loss, time 1010ms
rtt min/avg/max/mdev = 12.300/13.166/14.300/0.838 ms
"""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read(text: str | bytes) -> Measurement:
        path = tmp_path / "ping.log"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return detect.read(path)

    return read


def lost(found: Measurement) -> str:
    """`.` for each packet that was answered, `x` for each that was not."""
    return "".join("x" if flag else "." for flag in found.fates[0].lost)


def round_trips(found: Measurement) -> RoundTrips:
    assert found.round_trips is not None
    return found.round_trips


def interval_s(found: Measurement) -> float:
    assert found.fates[0].interval_s is not None
    return found.fates[0].interval_s


def rtts_ms(found: Measurement) -> list[float]:
    return [round(float(rtt) * 1e3, 3) for rtt in round_trips(found).rtt_s]


def test_gaps_and_the_summary_tell_what_was_lost(read: Read) -> None:
    found = read(LINUX)
    assert found.format == "ping (Linux, IPv4)"
    assert lost(found) == "..x.xx"
    assert rtts_ms(found) == [12.3, 14.3, 12.9]
    assert found.fates[0].direction == "both"
    assert found.skipped is None


def test_the_interval_is_that_of_the_summary(read: Read) -> None:
    found = read(LINUX)
    assert_allclose(round_trips(found).time_s, [0, 0.202, 0.606])
    assert_allclose(interval_s(found), 0.202)
    assert found.notes == ()


def test_without_a_summary_an_interval_is_assumed_and_said(read: Read) -> None:
    found = read("\n".join(LINUX.splitlines()[:4]))
    assert lost(found) == "..x."
    assert_allclose(round_trips(found).time_s, [0, 1, 3])
    assert "1 s between packets is assumed" in found.notes[0]


@pytest.mark.parametrize(
    ("heading", "bytes_"),
    [
        ("PING a (192.0.2.1) 56(84) bytes of data.", 84),
        ("PING a (192.0.2.1) from 192.0.2.7 wlan0: 1400(1428) bytes of data.", 1428),
        ("PING a (192.0.2.1): 56 data bytes", 84),
    ],
)
def test_packets_have_the_length_of_ip_packets(read: Read, heading: str, bytes_: int) -> None:
    found = read(f"{heading}\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=12.3 ms\n")
    assert round_trips(found).packet_bytes == found.fates[0].packet_bytes == bytes_


def test_stamps_tell_when_packets_were_sent(read: Read) -> None:
    found = read(
        "PING a (192.0.2.1) 56(84) bytes of data.\n"
        "[1700000000.500000] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=500 ms\n"
        "[1700000001.250000] no answer yet for icmp_seq=2\n"
        "[1700000000.700000] 64 bytes from 192.0.2.1: icmp_seq=3 ttl=56 time=100 ms\n"
    )
    assert lost(found) == ".x."
    assert_allclose(round_trips(found).time_s, [0, 0.6], atol=1e-6)
    assert_allclose(interval_s(found), 0.3, atol=1e-6)


def test_a_clock_that_was_set_back_is_not_believed(read: Read) -> None:
    found = read(
        "[1700000009.5] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=5.00 ms\n"
        "[1600000000.5] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=5.00 ms\n"
    )
    assert_allclose(round_trips(found).time_s, [0, 1])


def test_an_answer_after_no_answer_yet_is_not_lost_nor_late(read: Read) -> None:
    found = read(
        "PING a (192.0.2.1) 56(84) bytes of data.\n"
        "64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=5.00 ms\n"
        "no answer yet for icmp_seq=2\n"
        "64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=1500 ms\n"
        "64 bytes from 192.0.2.1: icmp_seq=3 ttl=56 time=5.00 ms\n"
    )
    assert lost(found) == "..."
    assert found.reordering[0].late == 0


def test_an_answer_that_was_overtaken_is_late(read: Read) -> None:
    found = read(
        "PING a (192.0.2.1) 56(84) bytes of data.\n"
        "64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=100 ms\n"
        "64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=1250 ms\n"
    )
    assert rtts_ms(found) == [1250, 100]
    assert (found.reordering[0].packets, found.reordering[0].late) == (2, 1)
    assert_allclose(found.reordering[0].late_by_s, [0.15])


def test_duplicates_count_once(read: Read) -> None:
    found = read(
        LINUX.replace(
            "\n64 bytes from host.example.org (192.0.2.1): icmp_seq=4",
            "\n64 bytes from host.example.org (192.0.2.1): icmp_seq=2 ttl=56 time=99.0 ms (DUP!)"
            "\n64 bytes from host.example.org (192.0.2.1): icmp_seq=4",
        )
    )
    assert rtts_ms(found) == [12.3, 14.3, 12.9]
    assert "1 duplicate" in found.notes[0]


@pytest.mark.parametrize("time", ["time=x12.9 ms", "time=1x2.9 ms", "time= ms", "time=12.9 m", "tt"])
def test_a_garbled_answer_is_skipped_and_neither_lost_nor_received(read: Read, time: str) -> None:
    found = read(LINUX.replace("ttl=56 time=14.3 ms", time))
    assert lost(found) == ".x.xx"
    assert rtts_ms(found) == [12.3, 12.9]
    assert found.skipped is not None
    assert (found.skipped.count, found.skipped.first.partition(":")[0]) == (1, "line 3")


@pytest.mark.parametrize("stamp", ["", "[1700000004.500000] "])
def test_a_last_line_cut_anywhere_loses_nothing(read: Read, stamp: str) -> None:
    lines = LINUX.splitlines()[:3]
    last = stamp + lines[1].replace("icmp_seq=1", "icmp_seq=3")
    for end in range(5, len(last)):
        found = read("\n".join([*lines, last[:end]]))
        assert (lost(found), rtts_ms(found)) == ("..", [12.3, 14.3]), last[:end]
        assert found.skipped is not None or last[:end] in stamp, last[:end]
        assert not any("on the way when" in note for note in found.notes)


def test_a_garbled_last_answer_before_the_summary_is_not_lost(read: Read) -> None:
    text = LINUX.replace("6 packets", "4 packets").replace("time=12.9 ms", "time=?")
    found = read(text)
    assert lost(found) == "..x"
    assert found.notes == ()


def test_a_windows_line_in_any_language_that_is_cut_short_is_not_lost(read: Read) -> None:
    text = (
        "Pinging 192.0.2.1 with 32 bytes of data:\n"
        "Reply from 192.0.2.1: bytes=32 time=14ms TTL=56\n"
        "Reply from 192.0.2.1: bytes=32 time=15ms TTL=56\n"
        "Reply from 192.0"
    )
    assert lost(read(text)) == ".."


def test_sequence_numbers_of_16_bits_begin_again(read: Read) -> None:
    numbers = [65533, 65534, 0, 1]
    found = read("".join(f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=56 time=5.00 ms\n" for n in numbers))
    assert lost(found) == "..x.."


def test_unreachable_is_lost_with_a_note(read: Read) -> None:
    found = read(
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
        "64 bytes from 192.0.2.1: icmp_seq=1 ttl=56 time=5.00 ms\n"
        "From 192.0.2.9 icmp_seq=2 Destination Host Unreachable\n"
        "From gw.example.org (192.0.2.9): icmp_seq=3 Time to live exceeded\n"
        "ping: sendmsg: Network is unreachable\n"
        "64 bytes from 192.0.2.1: icmp_seq=5 ttl=56 time=5.00 ms\n"
    )
    assert lost(found) == ".xxx."
    assert "Destination Host Unreachable" in found.notes[0]
    assert found.skipped is None


MACOS = """\
PING example.org (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: icmp_seq=0 ttl=56 time=12.345 ms
Request timeout for icmp_seq 1
64 bytes from 192.0.2.1: icmp_seq=2 ttl=56 time=13.000 ms
92 bytes from 192.0.2.9: Destination Host Unreachable
Vr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst
ping: sendto: No route to host

--- example.org ping statistics ---
5 packets transmitted, 2 packets received, 60.0% packet loss
round-trip min/avg/max/stddev = 12.345/12.672/13.000/0.328 ms
"""

BUSYBOX = """\
PING example.org (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: seq=0 ttl=56 time=12.345 ms
64 bytes from 192.0.2.1: seq=2 ttl=56 time=13.000 ms

--- example.org ping statistics ---
4 packets transmitted, 2 packets received, 50% packet loss
round-trip min/avg/max = 12.345/12.672/13.000 ms
"""

PING6 = """\
PING6(56=40+8+8 bytes) 2001:db8::7 --> 2001:db8::1
16 bytes from 2001:db8::1, icmp_seq=0 hlim=57 time=12.345 ms
16 bytes from 2001:db8::1, icmp_seq=2 hlim=57 time=13.000 ms
"""

LINUX6 = """\
PING example.org (2001:db8::1) 56 data bytes
64 bytes from host.example.org (2001:db8::1): icmp_seq=2 ttl=57 time=12.3 ms
"""


def test_macos(read: Read) -> None:
    found = read(MACOS)
    assert found.format == "ping (macOS or BSD, IPv4)"
    assert lost(found) == ".x.xx"
    assert rtts_ms(found) == [12.345, 13]
    assert found.skipped is None


@pytest.mark.parametrize(
    "date",
    ["Sun Nov 22 03:08:{:02}.5 UTC 2026: ", "03:08:{:02}.500000 ", "[2026-11-22 03:08:{:02},500] "],
)
def test_dates_in_front_of_the_lines(read: Read, date: str) -> None:
    lines = LINUX.splitlines()
    found = read("\n".join(date.format(10 + 2 * n) + line for n, line in enumerate(lines)))
    assert found.format == "ping (Linux, IPv4)"
    assert lost(found) == "..x.xx"
    assert found.skipped is None
    assert_allclose(round_trips(found).time_s, [0, 1.998, 3.9994], atol=1e-5)


def test_what_a_terminal_would_obey_is_left_out(read: Read) -> None:
    coloured = "\n".join(f"\x1b[32m{line}\x1b[0m" for line in LINUX.splitlines())
    found = read(coloured + "\n\a\n\x1b\n")
    assert lost(found) == "..x.xx"
    assert rtts_ms(found) == [12.3, 14.3, 12.9]


def test_the_last_packet_may_not_be_lost_at_all(read: Read) -> None:
    found = read(LINUX.replace("6 packets", "5 packets"))
    assert lost(found) == "..x.x"
    assert "on the way when ping was stopped" in found.notes[0]


def test_dates_to_the_second_are_too_coarse(read: Read) -> None:
    found = read("".join(f"Nov 22 03:08:1{n} {line}\n" for n, line in enumerate(LINUX.splitlines()[:4])))
    assert lost(found) == "..x."
    assert_allclose(round_trips(found).time_s, [0, 1, 3])


def test_busybox(read: Read) -> None:
    found = read(BUSYBOX)
    assert found.format == "ping (BusyBox, IPv4)"
    assert lost(found) == ".x.x"


def test_ping6_of_macos(read: Read) -> None:
    found = read(PING6)
    assert found.format == "ping (macOS or BSD, IPv6)"
    assert lost(found) == ".x."
    assert round_trips(found).packet_bytes == 56


def test_linux_over_ipv6(read: Read) -> None:
    found = read(LINUX6)
    assert found.format == "ping (Linux, IPv6)"
    assert lost(found) == "x."
    assert round_trips(found).packet_bytes == 104


def test_linux_in_german_has_commas(read: Read) -> None:
    found = read(
        "PING example.org (192.0.2.1) 56(84) Bytes an Daten.\n"
        "64 Bytes von host.example.org (192.0.2.1): icmp_seq=1 ttl=56 Zeit=12,3 ms\n"
        "64 Bytes von host.example.org (192.0.2.1): icmp_seq=3 ttl=56 Zeit=12,4 ms\n"
        "\n--- example.org ping-Statistik ---\n"
        "4 Pakete übertragen, 2 empfangen, 50% Paketverlust, Zeit 3003ms\n"
        "rtt min/avg/max/mdev = 12,300/12,350/12,400/0,050 ms\n"
    )
    assert rtts_ms(found) == [12.3, 12.4]
    assert lost(found) == ".x.x"
    assert_allclose(interval_s(found), 1.001)
    assert found.skipped is None


WINDOWS = """\

Pinging example.org [192.0.2.1] with 32 bytes of data:
Reply from 192.0.2.1: bytes=32 time=12ms TTL=56
Request timed out.
Reply from 192.0.2.9: Destination host unreachable.
Reply from 192.0.2.1: bytes=32 time<1ms TTL=56

Ping statistics for 192.0.2.1:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 12ms, Average = 6ms
"""

WINDOWS_IN_OTHER_LANGUAGES = {
    "German": (
        "Ping wird ausgeführt für example.org [192.0.2.1] mit 32 Bytes Daten:",
        "Antwort von 192.0.2.1: Bytes=32 Zeit=12ms TTL=56",
        "Zeitüberschreitung der Anforderung.",
        "Ping-Statistik für 192.0.2.1:",
        "    Pakete: Gesendet = 3, Empfangen = 2, Verloren = 1",
        "    (33% Verlust),",
        "Ca. Zeitangaben in Millisek.:",
        "    Minimum = 12ms, Maximum = 12ms, Mittelwert = 12ms",
    ),
    "French": (
        "Envoi d’une requête 'ping' sur example.org [192.0.2.1] avec 32 octets de données :",
        "Réponse de 192.0.2.1 : octets=32 temps=12 ms TTL=56",
        "Délai d’attente de la demande dépassé.",
        "Statistiques Ping pour 192.0.2.1:",
        "    Paquets : envoyés = 3, reçus = 2, perdus = 1 (perte 33%),",
        "Durée approximative des boucles en millisecondes :",
        "    Minimum = 12ms, Maximum = 12ms, Moyenne = 12ms",
    ),
    "Russian": (
        "Обмен пакетами с example.org [192.0.2.1] с 32 байтами данных:",
        "Ответ от 192.0.2.1: число байт=32 время=12мс TTL=56",
        "Превышен интервал ожидания для запроса.",
        "Статистика Ping для 192.0.2.1:",
        "    Пакетов: отправлено = 3, получено = 2, потеряно = 1",
        "    (33% потерь)",
        "Приблизительное время приема-передачи в мс:",
        "    Минимальное = 12мсек, Максимальное = 12 мсек, Среднее = 12 мсек",
    ),
    "Japanese": (
        "example.org [192.0.2.1]に ping を送信しています 32 バイトのデータ:",
        "192.0.2.1 からの応答: バイト数 =32 時間 =12ms TTL=56",
        "要求がタイムアウトしました。",
        "192.0.2.1 の ping 統計:",
        "    パケット数: 送信 = 3、受信 = 2、損失 = 1 (33% の損失)、",
        "ラウンド トリップの概算時間 (ミリ秒):",
        "    最小 = 12ms、最大 = 12ms、平均 = 12ms",
    ),
    "made up": (
        "Gwok ping en example.org [192.0.2.1] blu 32 zorn:",
        "Zax 192.0.2.1: zorn=32 mip=12ms TTL=56",
        "Vrum vrum vrum.",
        "Ping blorp 192.0.2.1:",
        "    Flim: Gra = 3, Gru = 2, Gro = 1 (33% flap),",
        "Blub:",
        "    Mi = 12ms, Ma = 12ms, Me = 12ms",
    ),
}


def test_windows(read: Read) -> None:
    found = read(WINDOWS.replace("\n", "\r\n"))
    assert found.format == "ping (Windows, IPv4)"
    assert lost(found) == ".xx."
    assert rtts_ms(found) == [12, 0.5]
    assert round_trips(found).packet_bytes == 60
    assert found.skipped is None
    # One a second; 4 s where none was answered.
    assert_allclose(round_trips(found).time_s, [0, 9])


@pytest.mark.parametrize("language", WINDOWS_IN_OTHER_LANGUAGES)
def test_windows_in_other_languages(read: Read, language: str) -> None:
    begin, answer, timeout, *summary = WINDOWS_IN_OTHER_LANGUAGES[language]
    found = read("\r\n".join(["", begin, answer, timeout, answer, "", *summary]))
    assert lost(found) == ".x."
    assert rtts_ms(found) == [12, 12]
    assert round_trips(found).packet_bytes == 60
    assert found.skipped is None


def test_windows_over_ipv6(read: Read) -> None:
    found = read(
        "Pinging example.org [2001:db8::1] with 32 bytes of data:\r\n"
        "Reply from 2001:db8::1: time=12ms \r\nRequest timed out.\r\nReply from 2001:db8::1: time<1ms\r\n"
    )
    assert found.format == "ping (Windows, IPv6)"
    assert lost(found) == ".x."
    assert round_trips(found).packet_bytes == 80


def test_the_summary_in_between_that_windows_shows_on_ctrl_break(read: Read) -> None:
    body = WINDOWS.split("Pinging")[1].partition("\n")[2].partition("\n\n")[0]
    total = "Packets: Sent = {}, Received = {}, Lost = {}"
    later = body + "\n\n" + WINDOWS.split("\n\n")[1].replace(total.format(4, 3, 1), total.format(9, 6, 3))
    found = read(WINDOWS + later)
    assert lost(found) == ".xx..xx.x"
    assert "run" not in " ".join(found.notes)


def test_pings_of_two_systems_in_one_file(read: Read) -> None:
    numbered = "64 bytes from 192.0.2.1: icmp_seq=9 ttl=56 time=5.00 ms\nno answer yet for icmp_seq=3\n"
    assert rtts_ms(read(WINDOWS + numbered)) == [12, 0.5, 5]


def test_powershell_redirects_in_utf_16(read: Read) -> None:
    for mark, encoding in (
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xef\xbb\xbf", "utf-8"),
    ):
        assert lost(read(mark + WINDOWS.replace("\n", "\r\n").encode(encoding))) == ".xx."


def test_a_code_page_of_dos_does_no_harm(read: Read) -> None:
    begin, answer, timeout, *summary = WINDOWS_IN_OTHER_LANGUAGES["German"]
    found = read("\r\n".join(["", begin, answer, timeout, answer, "", *summary]).encode("cp850"))
    assert lost(found) == ".x."


def test_runs_to_one_host_are_joined(read: Read) -> None:
    found = read(LINUX + LINUX)
    assert lost(found) == "..x.xx..x.xx"
    assert "2 runs" in found.notes[0]


def test_runs_without_their_headings_are_told_by_their_numbers(read: Read) -> None:
    answers = "".join(f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=56 time=5.00 ms\n" for n in (1, 2, 4))
    assert lost(read(answers + answers)) == "..x...x."


def test_of_several_hosts_the_one_with_most_answers_counts(read: Read) -> None:
    other = LINUX.replace("192.0.2.1", "192.0.2.2").replace("icmp_seq=4 ", "icmp_seq=3 ")
    one, two = LINUX.splitlines(), other.splitlines()[:3]
    mixed = [line for pair in zip(one, two, strict=False) for line in pair] + one[3:]
    found = read("\n".join(mixed))
    assert rtts_ms(found) == [12.3, 14.3, 12.9]
    assert "192.0.2.2" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "PING a (192.0.2.1) 56(84) bytes of data.\n\n--- a ping statistics ---\n"
            "9 packets transmitted, 9 received, 0% packet loss, time 8012ms\n"
            "rtt min/avg/max/mdev = 12.3/12.3/12.3/0.0 ms\n",
            "summary alone",
        ),
        ("PING a (192.0.2.1) 56(84) bytes of data.\n"
         "From 192.0.2.9 icmp_seq=1 Destination Host Unreachable\n", "no packet was answered: Destination"),
        ("PING a (192.0.2.1) 4(32) bytes of data.\n12 bytes from 192.0.2.1: icmp_seq=1 ttl=64\n", "-s"),
        ("\n".join(["lorem ipsum dolor"] * 5 + LINUX.splitlines()[1:3]), "mixed or of another format"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_the_reason(read: Read, text: str, why: str) -> None:
    with pytest.raises(FileError, match=why):
        read(text)


def test_foreign_lines_are_counted_and_the_first_is_shown(read: Read) -> None:
    lines = LINUX.splitlines()
    found = read("\n".join([*lines[:2], "and now something else", "x" * 5000, *lines[2:]]))
    assert (found.skipped and found.skipped.count) == 2
    assert (found.skipped and found.skipped.first) == "line 3: `and now something else`"
    assert lost(found) == "..x.xx"


def test_a_gap_beyond_all_bounds_does_not_take_all_memory(read: Read) -> None:
    found = read(LINUX.replace("6 packets transmitted", "999999999999 packets transmitted"))
    assert len(found.fates[0].lost) == 1 << 22
    assert np.count_nonzero(~found.fates[0].lost) == 3


def test_gaps_of_many_hosts_do_not_take_all_memory(read: Read) -> None:
    found = read(
        "".join(
            f"64 bytes from 192.0.2.{host}: icmp_seq={n * 32_000 % 65_536} ttl=56 time=5.00 ms\n"
            for host in range(60)
            for n in range(100)
        )
    )
    assert len(found.fates[0].lost) < 1 << 22
    assert "Only the first" in found.notes[-1]


CUT = """PING example.org (192.0.2.1) 100(128) bytes of data.
76 bytes from 192.0.2.1: icmp_seq=1 ttl=116 (truncated)
76 bytes from 192.0.2.1: icmp_seq=2 ttl=116 (truncated)

--- example.org ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
"""


@pytest.mark.parametrize(
    "text",
    [
        CUT,
        CUT.replace("ttl=116 (truncated)", "ttl=116"),
        CUT.replace("(truncated)", "(abgeschnitten)").replace("bytes from", "Bytes von"),
        CUT.replace("100(128) bytes of data.", "100 data bytes").replace("icmp_seq", "seq"),
        "\n".join(CUT.splitlines()[1:3]),
        CUT.replace("192.0.2.1)", "2001:db8::1)").replace("192.0.2.1:", "2001:db8::1:"),
    ],
)
def test_answers_that_were_cut_are_not_too_small(read: Read, text: str) -> None:
    with pytest.raises(FileError, match=r"replies were cut.* ping -s 68$"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "\nPinging a [192.0.2.1] with 1000 bytes of data:\n"
        + "Reply from 192.0.2.1: bytes=68 (sent 1000) time=15ms TTL=116\n" * 3,
        "\nPing wird ausgeführt für a [192.0.2.1] mit 1000 Bytes Daten:\n"
        + "Antwort von 192.0.2.1: Bytes=68 (gesendet 1000) Zeit=15ms TTL=116\n" * 3,
        "\nОбмен пакетами с a [192.0.2.1] с 1000 байтами данных:\n"
        + "Ответ от 192.0.2.1: число байт=68 (отправлено 1000) время=15мс TTL=116\n" * 3,
        "PING a (192.0.2.1): 1000 data bytes\n"
        + "".join(
            f"76 bytes from 192.0.2.1: icmp_seq={n} ttl=116 time=15.0 ms\n"
            "wrong total length 96 instead of 1028\n"
            for n in range(3)
        ),
    ],
)
def test_answers_that_were_cut_and_have_a_time_are_used_and_said(read: Read, text: str) -> None:
    found = read(text)
    assert rtts_ms(found) == [15, 15, 15]
    assert round_trips(found).packet_bytes == 1028
    assert "3 replies were cut" in " ".join(found.notes)
    assert found.skipped is None


def test_hping_s_duplicates_count_once(read: Read) -> None:
    answer = "len=28 ip=192.0.2.1 ttl=64 id={} icmp_seq={} rtt=2{}.5 ms\n"
    text = "HPING a (eth0 192.0.2.1): icmp mode set, 28 headers + 0 data bytes\n"
    text += "".join(answer.format(500 + n, n, n) for n in range(3))
    found = read(text + "DUP! " + answer.format(502, 2, 9))
    assert rtts_ms(found) == [20.5, 21.5, 22.5]
    assert (found.format, round_trips(found).packet_bytes) == ("ping (hping, IPv4)", 28)


@pytest.mark.parametrize(
    ("heading", "answer"),
    [
        (
            "PING(56=40+8+8 bytes) 2001:db8::2 --> 2001:db8::1",
            "16 bytes from 2001:db8::1, icmp_seq={} hlim=56 time=9.5 ms",
        ),
        (
            "  PING 192.0.2.1: 56  data bytes, press CTRL_C to break",
            "Reply from 192.0.2.1: bytes=56 Sequence={} ttl=56 time=9 ms",
        ),
    ],
)
def test_headings_and_answers_of_further_systems(read: Read, heading: str, answer: str) -> None:
    found = read("\n".join([heading, *(answer.format(n) for n in range(5))]))
    assert found.round_trips is not None
    assert len(found.round_trips.rtt_s) == 5
    assert found.skipped is None


def test_dumps_of_wrong_data_and_of_the_route_are_remarks(read: Read) -> None:
    answers = "".join(
        f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=56 time=9.5 ms\n"
        "wrong data byte #16 should be 0x10 but was 0x0\n#16\t0 0 1f a0\n#48\t0 0\n"
        "\t(same route)\n"
        for n in range(1, 9)
    )
    found = read("PING 192.0.2.1 (192.0.2.1) 56(124) bytes of data.\n" + answers)
    assert found.round_trips is not None
    assert len(found.round_trips.rtt_s) == 8
    assert found.skipped is None


def test_another_program_s_time_to_live_is_no_round_trip(read: Read) -> None:
    lines = "".join(
        f"SENT ({n}.0123s) ICMP [192.0.2.7 > 192.0.2.1 Echo id=1 seq={n}] IP [ttl=64 id=1 iplen=28 ]\n"
        f"RCVD ({n}.0323s) ICMP [192.0.2.1 > 192.0.2.7 Echo reply id=1 seq={n}] IP [ttl=56 id=2 iplen=28 ]\n"
        for n in range(1, 30)
    )
    with pytest.raises(FileError):
        read(lines)
