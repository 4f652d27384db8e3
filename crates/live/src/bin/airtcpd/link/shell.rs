//! `airtcpd link --shell`.

use super::Options;
use super::emulation::{Emulation, be_punctual};
use airtcp_live::emulate::Framing;
use airtcp_live::namespace::shell::{self, Behind, Ends};
use airtcp_sim::Scenario;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub fn run(options: &Options, scenario: &Scenario) -> anyhow::Result<ExitCode> {
    let behind = Behind {
        name: scenario.name.clone(),
        command: options.command.clone(),
        nat: options.nat,
        drain: Duration::from_nanos(options.drain().0),
    };
    let prepare = || {
        let names = ["to the far end", "to the command"].map(str::to_owned);
        let emulation = Emulation::new(options, scenario, Framing::Ethernet, "near", names)?;
        Ok(|ends: Ends, stop: &AtomicBool| {
            be_punctual();
            emulation.run(&mut [ends.near, ends.far], stop)
        })
    };
    let (status, told) = shell::run(&behind, prepare)?;
    told?;
    Ok(ExitCode::from(status))
}
