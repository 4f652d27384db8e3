//! `airtcpd link --shell`.

use super::Options;
use super::counters::Counters;
use airtcp_live::emulate::{Clock, Control, Emulator, drive};
use airtcp_live::namespace::shell::{self, Behind, Ends};
use airtcp_sim::Scenario;
use airtcp_wire::{Dur, Time};
use std::io;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

pub fn run(options: &Options, scenario: &Scenario) -> anyhow::Result<ExitCode> {
    let mut emulator = Emulator::end_to_end(scenario, options.seed(scenario));
    let behind = Behind { name: scenario.name.clone(), command: options.command.clone(), nat: options.nat };
    let emulate = |ends: Ends, stop: &AtomicBool| -> io::Result<Counters> {
        let clock = Clock::start();
        let deadline = options.duration.map_or(Time::NEVER, |duration| clock.now() + duration);
        let control = Control { stop, deadline, every: Dur::MAX };
        let mut devices = [ends.near, ends.far];
        let kept = drive(&mut emulator, &mut devices, &clock, &control, |_, _, _| ControlFlow::Continue(()))?;
        Ok(Counters::new(["to the far end", "to the command"], &emulator, &kept))
    };
    let (status, counters) = shell::run(&behind, emulate)?;
    counters?.tell(options)?;
    Ok(ExitCode::from(status))
}
