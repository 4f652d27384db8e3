//! `airtcpd link`.

mod between;
mod emulation;
mod shell;

use super::input::BadInput;
use airtcp_live::emulate::HoldingMachine;
use airtcp_live::namespace::leftovers;
use airtcp_sim::Scenario;
use airtcp_sim::scenario::text_file;
use airtcp_wire::{Dur, human};
use clap::ArgGroup;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd link scenarios/lossy-ethernet.toml --between veth0 veth1
      packets entering one interface leave the other, subject to the path's rate, delay, queue and losses
  airtcpd link --between air0 air1 --set wireless.delay=20ms --duration 60s --capture air0.pcapng --json -
      the built-in scenario with a different delay; missing interfaces are created as TUN devices
  airtcpd link --between veth0 veth1 --base-station delay-jitter:probability=0.1:delay=200ms
      one data packet in ten from veth0 to veth1 waits 200 ms in front of the wireless link, and later ones wait for it
  airtcpd link --shell scenarios/lte.toml -- sh -c 'iperf3 -c $AIRTCP_LINK_FAR -C bbr'
      any command in its own network namespace, behind the path; the server was started outside
  sudo airtcpd link --shell scenarios/lte.toml --nat
      your shell behind the path, with access to the rest of the network

A command behind the path has in its environment AIRTCP_LINK_FAR, the address at which it reaches servers on this
host; AIRTCP_LINK_NEAR, its own; AIRTCP_LINK_FAR6 and AIRTCP_LINK_NEAR6, both in IPv6; AIRTCP_LINK_DEVICE and
AIRTCP_LINK_NAME. airtcpd exits with its status (127: no such program; 128 + n: ended by signal n). When it ends, so do all processes it started. Under sudo it runs as you.

The path is the scenario's, in both directions, emulated by the simulator's own code. The scenario's flows, schemes and circuits are ignored.";

/// How long data that a command has sent may take to arrive after the command's end.
const DRAIN: Dur = Dur::from_secs(5);

/// Emulate a scenario's path in real time, between two interfaces or around a command
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("ends").args(["between", "shell"]).required(true))]
pub struct Options {
    /// Scenario file [default: the built-in scenario]
    scenario: Option<PathBuf>,

    /// The interfaces at the path's first and last node, both Ethernet (veth and others) or both TUN. If neither
    /// exists, both are created as TUN devices; existing ones are used as they are. The kernel timestamps Ethernet
    /// packets on arrival; TUN packets arrive when airtcpd wakes up for them, up to 0.1 ms later in each direction
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    between: Option<Vec<String>>,

    /// Run a machine at the scenario's base station, as a term of a scheme names it. It handles TCP data from A to B, the
    /// side of the mobile hosts. The machine that a link can run is delay-jitter; `airtcp schemes` shows its keys
    #[arg(long, value_name = "MACHINE[:KEY=VALUE...]", conflicts_with = "shell")]
    base_station: Option<HoldingMachine>,

    /// Run COMMAND (default: your shell) in a network namespace behind the path
    #[arg(long)]
    shell: bool,

    /// Set a scenario value, for example wireless.loss.ber=1e-6
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, String)>,

    /// Seed of the path's random numbers [default: the scenario's seed]
    #[arg(long)]
    seed: Option<u64>,

    /// Stop after this time, for example 60s [default: at SIGINT, SIGTERM or SIGHUP]
    #[arg(long, value_parser = human::parse::<Dur>)]
    duration: Option<Dur>,

    /// Interval between counter lines on stderr; 0 for none [default: 1s; 0 with --shell]
    #[arg(long, value_parser = human::parse::<Dur>)]
    every: Option<Dur>,

    /// Capture the packets crossing interface A in this file (.pcapng or .pcap), for Wireshark and others
    #[arg(long, value_name = "FILE", value_parser = capture_file)]
    capture: Option<PathBuf>,

    /// Write the final counters as JSON to this file (-: standard output), instead of as text to stderr
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Print no counters
    #[arg(long)]
    quiet: bool,

    /// With --shell, give the command access beyond the far end: its packets leave under this host's address
    #[arg(long, conflicts_with = "between")]
    nat: bool,

    /// With --shell, how long to wait after the command ends for the data it sent to arrive [default: 5s]
    #[arg(long, value_parser = human::parse::<Dur>, conflicts_with = "between")]
    drain: Option<Dur>,

    /// Command to run behind the path
    #[arg(last = true, conflicts_with = "between")]
    command: Vec<String>,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let scenario = options.read_scenario()?;
    leftovers::clean_up();
    match &options.between {
        Some(names) => between::run(&options, &scenario, [&names[0], &names[1]]),
        None => shell::run(&options, &scenario),
    }
}

impl Options {
    /// How long packets may take to arrive after the end. Between two interfaces traffic never ends, so none are
    /// waited for.
    fn drain(&self) -> Dur {
        self.drain.unwrap_or(if self.shell { DRAIN } else { Dur::ZERO })
    }

    fn read_scenario(&self) -> Result<Scenario, BadInput> {
        let Some(path) = &self.scenario else { return Ok(Scenario::built_in(&self.set)?) };
        let text = text_file::read(path).map_err(|error| BadInput::of_file(path, error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let scenario = Scenario::load(&text, &path.to_string_lossy(), folder, &self.set)?;
        if !scenario.is_chain() {
            let problem = anyhow::anyhow!(
                "the links form a network, which has no two ends; remove their `from` and `to`, and `access` from flows. \
                 `airtcp compare --on linux` runs networks"
            );
            return Err(BadInput::of_file(path, problem));
        }
        Ok(scenario)
    }
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, for example wireless.delay=20ms")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn capture_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().is_some_and(|extension| extension == "pcapng" || extension == "pcap") {
        true => Ok(path),
        false => Err("the file name must end in .pcapng or .pcap".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn refusal(line: &str) -> String {
        Line::try_parse_from(line.split_whitespace()).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn one_way_to_have_two_ends() {
        for line in ["link", "link s.toml", "link s.toml -- true", "link --nat"] {
            let refusal = refusal(line);
            assert!(
                refusal.contains("--between <A> <B>") && refusal.contains("--shell"),
                "{line}: {refusal}"
            );
        }
        for line in ["link --between a b --shell", "link --between a b --nat", "link --between a b -- true"] {
            assert!(refusal(line).contains("cannot be used with"), "{line}");
        }
        for line in ["link s.toml --shell --nat -- true", "link --between a b"] {
            assert_eq!(refusal(line), "", "{line}");
        }
    }

    #[test]
    fn a_capture_says_its_format() {
        assert!(refusal("link --shell --capture x.txt").contains(".pcapng or .pcap"));
        assert_eq!(refusal("link --shell --capture x.pcap"), "");
    }
}
