//! `airtcpd proxy`.

mod run;

use crate::daemons;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd proxy run --wireless wlan0
      on a router: terminates the TCP of hosts behind wlan0 here; both ends keep their addresses
  airtcpd proxy run --listen 192.0.2.1:8080 --to 10.0.0.7:80 --wireless-cc bbr
      connects clients of port 8080 to a host on the wireless side
  airtcpd proxy status
  airtcpd proxy clean";

/// Split connections at the base station (paper 003), hiding wireless losses from the wired side
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Run(Box<run::Options>),
    #[command(flatten)]
    Daemon(daemons::Action),
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Run(options) => run::run(&options),
        Action::Daemon(action) => action.run("proxy"),
    }
}
