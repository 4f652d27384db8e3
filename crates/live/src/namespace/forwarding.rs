//! Interfaces that forward for a device of ours, and for nobody else.

use super::leftovers::{self, Record};
use super::sysctl;
use std::io;

/// How the names of such devices begin.
pub const DEVICES: &str = "airtcp";

/// Those of `interfaces` that forward nothing, or only for devices of ours, in the network namespace of the calling thread.
///
/// # Errors
/// The kernel's.
pub fn closed(mut interfaces: Vec<String>) -> io::Result<Vec<String>> {
    interfaces.sort();
    interfaces.dedup();
    let mut closed = Vec::new();
    for interface in interfaces {
        if leftovers::sysctl_before(&ipv4(&interface))? != "1" {
            closed.push(interface);
        }
    }
    Ok(closed)
}

/// Has a device of ours forward IPv4, and, for as long as the answer lasts, those that are `closed`.
///
/// # Errors
/// The kernel's; of the file system.
pub fn open(device: &str, closed: &[String]) -> io::Result<Vec<Record>> {
    sysctl::set(&ipv4(device), "1")?;
    records(closed.iter().map(|interface| ipv4(interface)))
}

/// The same for IPv6, where it is not forwarded anyhow.
///
/// # Errors
/// The kernel's: before Linux 6.17 no interface forwards IPv6 alone.
pub fn open_v6(device: &str, interfaces: &[String]) -> io::Result<Vec<Record>> {
    if sysctl::get("net.ipv6.conf.all.forwarding")? == "1" {
        return Ok(Vec::new());
    }
    sysctl::set(&ipv6(device), "1")?;
    records(interfaces.iter().map(|interface| ipv6(interface)))
}

fn records(names: impl Iterator<Item = String>) -> io::Result<Vec<Record>> {
    names.filter_map(|name| Record::of_sysctl(&name, "1").transpose()).collect()
}

/// A dot in an interface's name is a slash in a sysctl's.
fn ipv4(interface: &str) -> String {
    format!("net.ipv4.conf.{}.forwarding", interface.replace('.', "/"))
}

fn ipv6(interface: &str) -> String {
    format!("net.ipv6.conf.{}.force_forwarding", interface.replace('.', "/"))
}

/// Rules of nft for a chain at the hook `forward`: neighbours may have waited for these interfaces to forward.
#[must_use]
pub fn for_nobody_else(closed: &[String]) -> String {
    closed.iter().map(|name| format!("iifname \"{name}\" oifname != \"{DEVICES}*\" drop; ")).collect()
}
