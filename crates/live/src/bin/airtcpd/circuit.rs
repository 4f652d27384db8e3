//! `airtcpd circuit`.

pub mod key;
pub mod options;
mod receive;
mod send;

use crate::daemons;
use airtcp_live::circuit::NAME;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd circuit key circuit.key
      generates a key, which both gateways need
  airtcpd circuit receive --listen 0.0.0.0:4007 --key-file circuit.key
      on the gateway where data leaves the circuit
  airtcpd circuit send --to 192.0.2.2:4007 --prefix 10.2.0.0/24 --key-file circuit.key
      on the gateway where data enters: packets for 10.2.0.0/24 go through the circuit
  airtcpd circuit status

For a circuit in each direction, let both gateways send and receive, each on its own port.";

/// Run a TCP circuit between two gateways (paper 000): data packets pass unmodified; tiny header packets carry the congestion control
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Send(Box<send::Options>),
    Receive(receive::Options),
    Key(key::Options),
    #[command(flatten)]
    Daemon(daemons::Action),
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Send(options) => send::run(&options),
        Action::Receive(options) => receive::run(&options),
        Action::Key(options) => key::run(&options),
        Action::Daemon(action) => action.run(NAME),
    }
}
