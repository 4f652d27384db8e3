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
      for gigabit links: fewer header packets
  airtcpd circuit send --to [2001:db8::2]:4007 --prefix 2001:db8:2::/48 --key-file circuit.key --gmb 2Mbit/s

Run it as root on a router between the senders and the lossy link. Packets for --prefix are routed to a TUN device
(airc…), wait there while the circuit holds them, and then take the route that they would have taken without the circuit.
It needs forwarding (sysctl -w net.ipv4.ip_forward=1). While the other gateway does not answer, and when this one is gone,
packets bypass it. A circuit cannot carry packets whose addresses this host translates (NAT): translate elsewhere.

SIGTERM, SIGINT or SIGHUP stops it and undoes its setup.";

/// Send packets for some prefixes through a circuit until a signal ends it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Address of the receiving gateway
    #[arg(long, value_name = "ADDRESS")]
    to: SocketAddr,

    /// Send packets for these addresses through the circuit, for example 10.2.0.0/24; repeatable
    #[arg(long = "prefix", value_name = "PREFIX", required = true)]
    prefixes: Vec<Prefix>,

    /// Key file, as written by `airtcpd circuit key`
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    #[command(flatten)]
    circuit: CircuitOptions,

    /// Maximum data packets waiting in front of the tunnel queue; further ones are dropped, as in any router
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
    let circuit = format!("sends packets for {} to {}", prefixes.join(", "), service.to);
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
            mark: self.circuit.mark,
            key: key::read(&self.key_file)?,
            counters: Default::default(),
        })
    }
}
