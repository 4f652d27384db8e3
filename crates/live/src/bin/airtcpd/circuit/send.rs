//! `airtcpd circuit send`.

use super::key;
use crate::input::BadInput;
use crate::log;
use airtcp_live::circuit::SendingService;
use airtcp_live::daemon::{self, MetricsAddress};
use airtcp_live::emulate::Prefix;
use airtcp_live::namespace::leftovers;
use airtcp_proto::circuit::{Compression, Config};
use airtcp_proto::scheme::Scheme;
use airtcp_wire::circuit::MAX_CONTROLS;
use airtcp_wire::human;
use airtcp_wire::{Bytes, Dur, Rate};
use clap::ValueEnum;
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

    /// Bytes of data that one header packet stands for
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>, default_value = "1500B")]
    vmss: Bytes,

    /// Control TCPs: with more of them a loss costs less, and the circuit has so many flows' shares
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    controls: u16,

    /// The control TCPs' scheme: any of end hosts that `airtcp schemes` lists
    #[arg(long, value_name = "SCHEME", value_parser = scheme, default_value = "cubic")]
    control: Scheme,

    /// Guaranteed minimum bandwidth: so much leaves without header packets, whatever is lost [default: none]
    #[arg(long, value_name = "RATE", value_parser = human::parse::<Rate>)]
    gmb: Option<Rate>,

    /// Compress header packets
    #[arg(long, value_enum, default_value_t = Compress::None)]
    compression: Compress,

    /// How long data may wait in the tunnel queue, at the rate that the circuit has; 0: as long as there is room
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value_t = Config::default().tunnel_delay)]
    tunnel_delay: Dur,

    /// Data packets in the tunnel queue, at most
    #[arg(long, value_name = "COUNT", default_value_t = Config::default().tunnel_queue)]
    tunnel_queue: u32,

    /// Data packets that wait in front of it; what finds no room is lost, as in any router
    #[arg(long, value_name = "COUNT", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    queue: u32,

    /// The device's name [default: airc and the process id]
    #[arg(long, value_name = "NAME")]
    tun: Option<String>,

    /// Tell Prometheus: 127.0.0.1:PORT, [::1]:PORT, or the path of a UNIX socket
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<MetricsAddress>,

    /// How to write what happens to stderr
    #[arg(long, value_enum, default_value_t = log::Format::Text)]
    log: log::Format,
}

/// How header packets are compressed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Compress {
    None,
    /// 15 bytes; after a lost one nothing can be read until a retransmission comes
    Rfc1144,
    /// 15 bytes, and up to two lost ones in a row are guessed
    Twice,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let service = options.service()?;
    leftovers::clean_up();
    log::begin(options.log, false);
    let prefixes: Vec<_> = service.prefixes.iter().map(ToString::to_string).collect();
    let circuit = format!("sends what is for {} to {}", prefixes.join(", "), service.to);
    let about = json!({
        "pid": process::id(),
        "circuit": circuit,
        "device": service.device,
        "control": options.control.label,
        "controls": options.controls,
        "vmss_bytes": options.vmss.0,
    });
    tracing::info!(device = service.device, control = %options.control.label, "{circuit}");
    daemon::run(&service, options.metrics.as_ref(), about)
}

impl Options {
    fn service(&self) -> anyhow::Result<SendingService> {
        let circuit = Config {
            vmss: self.vmss,
            controls: self.controls,
            gmb: self.gmb,
            tunnel_delay: self.tunnel_delay,
            tunnel_queue: self.tunnel_queue,
            compression: match self.compression {
                Compress::None => Compression::None,
                Compress::Rfc1144 => Compression::Rfc1144,
                Compress::Twice => Compression::Twice,
            },
            ..Config::default()
        };
        circuit.check().map_err(BadInput)?;
        if self.controls > MAX_CONTROLS {
            let controls = self.controls;
            return Err(BadInput(format!("--controls {controls}: {MAX_CONTROLS} at most")).into());
        }
        Ok(SendingService {
            to: self.to,
            prefixes: self.prefixes.clone(),
            device: self.tun.clone().unwrap_or_else(|| format!("airc{}", process::id())),
            queue: self.queue,
            circuit,
            tcp: self.control.config.clone(),
            key: key::read(&self.key_file)?,
            counters: Default::default(),
        })
    }
}

fn scheme(text: &str) -> Result<Scheme, String> {
    let scheme = Scheme::parse(text, "linux").map_err(|error| error.to_string())?;
    match (&scheme.base_station, &scheme.circuit) {
        (None, None) => Ok(scheme),
        _ => Err("a control TCP takes the terms of a sender alone".to_owned()),
    }
}
