//! `airtcpd link --between A B`.

use super::Options;
use super::emulation::{Emulation, be_punctual};
use airtcp_live::emulate::{Framing, open_between, own_addresses};
use airtcp_live::rights::become_nobody;
use airtcp_live::warn;
use airtcp_sim::Scenario;
use nix::sys::signal::{SigHandler, Signal, signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub fn run(options: &Options, scenario: &Scenario, ends: [&str; 2]) -> anyhow::Result<ExitCode> {
    let stop = Arc::new(AtomicBool::new(false));
    let hang_up = (!outlives_terminal()?).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let (mut devices, framing) = open_between(ends)?;
    let [a, b] = ends;
    let names = [format!("{a}→{b}"), format!("{b}→{a}")];
    let emulation = Emulation::new(options, scenario, framing, a, names)?;
    if framing == Framing::Ethernet {
        ends.iter().for_each(|end| warn_of_addresses(end));
    }
    if !options.quiet {
        warn!(
            "airtcpd: {} between {a} and {b}, seed {}",
            scenario.name,
            options.seed.unwrap_or(scenario.seed)
        );
    }
    be_punctual();
    become_nobody(&[])?;
    emulation.run(&mut devices, &stop)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns whether SIGHUP was ignored when this process started, as nohup does. Ignores it from now on.
#[allow(unsafe_code, reason = "signal(2), to hear what was set before")]
fn outlives_terminal() -> nix::Result<bool> {
    // SAFETY: no handler function is installed.
    let before = unsafe { signal(Signal::SIGHUP, SigHandler::SigIgn)? };
    Ok(matches!(before, SigHandler::SigIgn))
}

fn warn_of_addresses(interface: &str) {
    for address in own_addresses(interface) {
        warn!(
            "airtcpd: {interface} has the address {address}: this host answers there itself, beside what crosses the path; \
             ip addr del it, and give addresses to the other ends"
        );
    }
}
