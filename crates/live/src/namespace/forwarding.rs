//! Interfaces that forward for a device of ours, and for nobody else.

use super::leftovers::{self, RecordedChange};
use super::sysctl;
use std::io;

/// Prefix of the names of such devices.
pub const DEVICES: &str = "airtcp";

/// Returns those of `interfaces` that do not forward IPv4, or only for devices of ours, in the network namespace of
/// the calling thread.
///
/// # Errors
/// The kernel's.
pub fn closed(interfaces: &[String]) -> io::Result<Vec<String>> {
    closed_by(interfaces, ipv4)
}

/// Returns those of `interfaces` that do not forward IPv6, or only for devices of ours.
///
/// # Errors
/// The kernel's; unsupported: before Linux 6.17 no interface forwards IPv6 alone.
pub fn closed_v6(interfaces: &[String]) -> io::Result<Vec<String>> {
    if sysctl::get("net.ipv6.conf.all.forwarding").is_ok_and(|value| value == "1") {
        return Ok(Vec::new());
    }
    closed_by(interfaces, ipv6).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let cure = "IPv6 needs Linux 6.17, or sysctl -w net.ipv6.conf.all.forwarding=1";
            io::Error::new(io::ErrorKind::Unsupported, cure)
        }
        _ => error,
    })
}

/// Makes a device of ours forward IPv4, and also the `closed` interfaces, for as long as the returned value lives.
///
/// # Errors
/// The kernel's, and the file system's.
pub fn open(device: &str, closed: &[String]) -> io::Result<Vec<RecordedChange>> {
    sysctl::set(&ipv4(device), "1")?;
    records(closed, ipv4)
}

/// Makes a device of ours forward IPv6, and also the `closed` interfaces.
///
/// # Errors
/// As [`open`].
pub fn open_v6(device: &str, closed: &[String]) -> io::Result<Vec<RecordedChange>> {
    if !closed.is_empty() {
        sysctl::set(&ipv6(device), "1")?;
    }
    records(closed, ipv6)
}

/// Rules of nft for a chain at the hook `forward`, for packets that match `what`. Without them, neighbours could use
/// the interfaces as routers.
#[must_use]
pub fn for_nobody_else(what: &str, closed: &[String]) -> String {
    closed.iter().map(|name| format!("{what}iifname \"{name}\" oifname != \"{DEVICES}*\" drop; ")).collect()
}

fn closed_by(interfaces: &[String], sysctl: fn(&str) -> String) -> io::Result<Vec<String>> {
    let mut closed = Vec::new();
    for interface in interfaces {
        if leftovers::sysctl_before(&sysctl(interface))? != "1" {
            closed.push(interface.clone());
        }
    }
    Ok(closed)
}

fn records(closed: &[String], sysctl: fn(&str) -> String) -> io::Result<Vec<RecordedChange>> {
    closed
        .iter()
        .filter_map(|interface| RecordedChange::of_sysctl(&sysctl(interface), "1").transpose())
        .collect()
}

/// A dot in an interface's name is a slash in a sysctl's.
fn ipv4(interface: &str) -> String {
    format!("net.ipv4.conf.{}.forwarding", interface.replace('.', "/"))
}

fn ipv6(interface: &str) -> String {
    format!("net.ipv6.conf.{}.force_forwarding", interface.replace('.', "/"))
}
