//! `airtcpd circuit send`.

use super::key;
use super::options::CircuitOptions;
use crate::log;
use airtcp_live::circuit::SendingService;
use airtcp_live::daemon;
use airtcp_live::emulate::Prefix;
use airtcp_live::namespace::leftovers;
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{self, ExitCode};

const EXAMPLES: &str = "\
Examples:
  airtcpd circuit send --to 192.0.2.2:4007 --prefix 10.2.0.0/24 --key-file circuit.key
  airtcpd circuit send --to 192.0.2.2:4007 --prefix 10.2.0.0/24 --key-file circuit.key \\
      --vmss 3000B --controls 2 --control bbr --compression twice
  airtcpd circuit send --to 192.0.2.2:4007 --prefix 10.2.0.0/24 --key-file circuit.key --vmss 65000B
      for links of gigabits: fewer header packets
  airtcpd circuit send --to [2001:db8::2]:4007 --prefix 2001:db8:2::/48 --key-file circuit.key --gmb 2Mbit/s

Run it on a router between the senders and the lossy link, as root. What is for --prefix is led to a device of its own
(airc…), waits there while the circuit lets nothing go, and then takes the way that it would have taken without the circuit.
It needs forwarding (sysctl -w net.ipv4.ip_forward=1). While the other gateway does not answer, and when this one is gone,
packets go as if there were none. What the host translates the addresses of (NAT) is not for a circuit: translate elsewhere.

SIGTERM, SIGINT or SIGHUP ends it, and what it has set up is undone.";

/// Let what is for some prefixes go through a circuit, until a signal ends it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Where the receiving gateway listens
    #[arg(long, value_name = "ADDRESS")]
    to: SocketAddr,

    /// Packets for these addresses go through the circuit, for example 10.2.0.0/24; give it once for each
    #[arg(long = "prefix", value_name = "PREFIX", required = true)]
    prefixes: Vec<Prefix>,

    /// The file with the key, as `airtcpd circuit key` writes it
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    #[command(flatten)]
    circuit: CircuitOptions,

    /// Data packets that wait in front of it; what finds no room is lost, as in any router
    #[arg(long, value_name = "COUNT", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queue: u32,

    /// The device's name [default: airc and the process id]
    #[arg(long, value_name = "NAME")]
    tun: Option<String>,

    #[command(flatten)]
    reports: log::Reports,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let service = options.service()?;
    leftovers::clean_up();
    log::begin(options.reports.log, false);
    let prefixes: Vec<_> = service.prefixes.iter().map(ToString::to_string).collect();
    let circuit = format!("sends what is for {} to {}", prefixes.join(", "), service.to);
    let about = json!({
        "pid": process::id(),
        "circuit": circuit,
        "device": service.device,
        "control": options.circuit.control.label,
        "controls": options.circuit.controls,
        "vmss_bytes": options.circuit.vmss.0,
    });
    tracing::info!(device = service.device, control = %options.circuit.control.label, "{circuit}");
    daemon::run(&service, options.reports.metrics.as_ref(), about)
}

impl Options {
    fn service(&self) -> anyhow::Result<SendingService> {
        Ok(SendingService {
            to: self.to,
            prefixes: self.prefixes.clone(),
            device: self.tun.clone().unwrap_or_else(|| format!("airc{}", process::id())),
            queue: self.queue,
            circuit: self.circuit.config()?,
            tcp: self.circuit.control.config.clone(),
            key: key::read(&self.key_file)?,
            counters: Default::default(),
        })
    }
}
