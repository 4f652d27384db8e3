//! Packet captures.

use crate::errors::CaptureError;
use airtcp_capture::{Capture, DirectionReport, read};
use airtcp_wire::Dur;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::path::PathBuf;

/// Reads a pcap or pcapng file, without the GIL, and describes its TCP connection with the most data.
///
/// Memory is bounded whatever the file's size. Raises CaptureError and OSError.
#[pyfunction]
pub fn read_capture(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let capture = py.detach(|| read(|| File::open(&path))).map_err(error)?;
    let Capture { overview, endpoints, .. } = &capture;
    let dict = PyDict::new(py);
    dict.set_item("format", overview.format.name())?;
    let link = overview.survey.link.into_iter().chain(capture.through.names());
    dict.set_item("link", link.collect::<Vec<_>>().join(", "))?;
    dict.set_item("packets", overview.survey.packets)?;
    dict.set_item("tcp_packets", overview.survey.tcp_packets)?;
    dict.set_item("skipped", overview.survey.skipped)?;
    dict.set_item("first_skipped", &overview.survey.first_skipped)?;
    dict.set_item("connections", overview.connections)?;
    dict.set_item("connections_forgotten", overview.forgotten)?;
    dict.set_item("payload_bytes", overview.all_bytes)?;
    dict.set_item("elsewhere", overview.elsewhere)?;
    dict.set_item("other_packets", overview.survey.other_packets())?;
    dict.set_item("others", overview.survey.others_shown())?;
    dict.set_item("air", overview.survey.air.shown())?;
    dict.set_item("multipath", capture.multipath)?;
    dict.set_item("cut", capture.cut)?;
    dict.set_item("sender", endpoints.source().to_string())?;
    dict.set_item("receiver", endpoints.reversed().source().to_string())?;
    dict.set_item("mss_bytes", capture.mss)?;
    dict.set_item("timestamps", capture.timestamps)?;
    dict.set_item("sack", capture.sack)?;
    dict.set_item("ecn", capture.ecn)?;
    dict.set_item("handshake_rtt_s", capture.handshake_rtt.map(Dur::as_secs_f64))?;
    dict.set_item("forward", way(py, &capture.forward)?)?;
    dict.set_item("reverse", way(py, &capture.reverse)?)?;
    Ok(dict)
}

fn way<'py>(py: Python<'py>, way: &DirectionReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let seconds = |durs: &mut dyn Iterator<Item = Dur>| durs.map(Dur::as_secs_f64).collect::<Vec<f64>>();
    dict.set_item("position", way.position.name())?;
    dict.set_item("to_sender_s", way.to_sender.map(Dur::as_secs_f64))?;
    dict.set_item("to_receiver_s", way.to_receiver.map(Dur::as_secs_f64))?;
    let mut sent = way.round_trips.iter().map(|trip| trip.0);
    dict.set_item("rtt_time_s", seconds(&mut sent).into_pyarray(py))?;
    let mut rtts = way.round_trips.iter().map(|trip| trip.1);
    dict.set_item("rtt_s", seconds(&mut rtts).into_pyarray(py))?;
    let mut times = way.fates.iter().map(|fate| fate.0);
    dict.set_item("fate_time_s", seconds(&mut times).into_pyarray(py))?;
    let lost: Vec<bool> = way.fates.iter().map(|fate| fate.1).collect();
    dict.set_item("lost", lost.into_pyarray(py))?;
    dict.set_item("late_by_s", seconds(&mut way.late_by.iter().copied()).into_pyarray(py))?;
    dict.set_item("gap_s", way.gap.map(Dur::as_secs_f64))?;
    set_counts(&dict, way)?;
    set_rates(&dict, way)?;
    Ok(dict)
}

fn set_counts(dict: &Bound<'_, PyDict>, way: &DirectionReport) -> PyResult<()> {
    let counts = way.counts;
    let named = [
        ("data_packets", counts.data_packets),
        ("data_bytes", counts.data_bytes),
        ("payload_bytes", counts.payload_bytes),
        ("retransmissions", counts.retransmissions),
        ("spurious", counts.spurious),
        ("timeouts", counts.timeouts),
        ("late", counts.late),
        ("missed", counts.missed),
        ("duplicates", counts.duplicates),
        ("merged", counts.merged),
        ("ce_marks", counts.ce_marks),
        ("acks", counts.acks),
        ("ack_bytes", counts.ack_bytes),
        ("dsacks", counts.dsacks),
    ];
    named.into_iter().try_for_each(|(name, count)| dict.set_item(name, count))
}

fn set_rates(dict: &Bound<'_, PyDict>, way: &DirectionReport) -> PyResult<()> {
    let bins = &way.throughput;
    let bytes: Vec<f64> = bins.bytes.iter().map(|&bytes| bytes as f64).collect();
    dict.set_item("throughput_start_s", way.throughput_start.as_secs_f64())?;
    dict.set_item("throughput_interval_s", bins.width.as_secs_f64())?;
    dict.set_item("throughput_bytes", bytes.into_pyarray(dict.py()))?;
    let rates = &way.rates;
    dict.set_item("sustained_bps", rates.sustained.map(|rate| rate.0 as f64))?;
    dict.set_item("dispersion_bps", rates.dispersion.map(|peak| peak.value))?;
    dict.set_item("dispersion_share", rates.dispersion.map(|peak| peak.share))?;
    dict.set_item("fastest_bps", rates.fastest.map(|rate| rate.0 as f64))?;
    Ok(())
}

fn error(error: airtcp_capture::CaptureError) -> PyErr {
    match error {
        airtcp_capture::CaptureError::File(airtcp_capture::FileError::Io(error)) => error.into(),
        error => CaptureError::new_err(error.to_string()),
    }
}
