//! `airtcpd circuit receive`.

use super::key;
use crate::log;
use airtcp_live::circuit::ReceivingService;
use airtcp_live::daemon;
use airtcp_live::emulate::Prefix;
use airtcp_live::namespace::leftovers;
use airtcp_proto::tcp::profile;
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{self, ExitCode};

const EXAMPLES: &str = "\
Examples:
  airtcpd circuit receive --listen 192.0.2.2:4007 --prefix 10.2.0.0/24 --key-file circuit.key
  airtcpd circuit receive --listen [2001:db8::2]:4007 --key-file circuit.key --metrics 127.0.0.1:9464

Run it on a router behind the lossy link. It answers header packets; data packets pass as through any router.
It does not answer anyone without the key. A firewall must admit UDP to that port, for example
  nft insert rule inet filter input udp dport 4007 accept
One receiver serves up to 32 sending gateways at once, including `airtcpd decouple`.";

/// Answer the header packets of sending gateways until a signal ends it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Address and UDP port to which the sending gateway sends
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,

    /// Count packets for this prefix, which arrive through the circuit on the link with that address, so that the
    /// sending gateway learns of losses that its header packets do not see, and can have lost packets rebuilt. Repeatable
    #[arg(long = "prefix", value_name = "PREFIX")]
    prefixes: Vec<Prefix>,

    /// Key file, as written by `airtcpd circuit key`
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    #[command(flatten)]
    reports: log::Reports,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let key = key::read(&options.key_file)?;
    leftovers::clean_up();
    log::begin(options.reports.log, false);
    let circuit = format!("receives at {}", options.listen);
    tracing::info!("{circuit}");
    let about = json!({ "pid": process::id(), "circuit": circuit });
    let service = ReceivingService {
        listen: options.listen,
        device: format!("airr{}", process::id()),
        prefixes: options.prefixes.clone(),
        tcp: profile::linux(),
        key,
        counters: Default::default(),
    };
    daemon::run(&service, options.reports.metrics.as_ref(), about)
}
