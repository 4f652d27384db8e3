//! `airtcpd circuit`.

mod clean;
pub mod key;
pub mod options;
mod receive;
mod send;
mod status;

use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd circuit key circuit.key
      makes a key, which both gateways have to have
  airtcpd circuit receive --listen 0.0.0.0:4007 --key-file circuit.key
      on the gateway where data comes out
  airtcpd circuit send --to 192.0.2.2:4007 --prefix 10.2.0.0/24 --key-file circuit.key
      on the gateway where it goes in: what is for 10.2.0.0/24 goes through the circuit
  airtcpd circuit status

For a circuit in each direction let both gateways send and receive, each on a port of its own.";

/// A TCP circuit between two gateways (paper 000): data packets pass unmodified, tiny header packets have the congestion control
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
    Status(status::Options),
    Clean(clean::Options),
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Send(options) => send::run(&options),
        Action::Receive(options) => receive::run(&options),
        Action::Key(options) => key::run(&options),
        Action::Status(options) => status::run(&options),
        Action::Clean(options) => clean::run(&options),
    }
}
