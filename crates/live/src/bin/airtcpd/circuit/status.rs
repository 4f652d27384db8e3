//! `airtcpd circuit status`.

use crate::status;
use airtcp_live::circuit;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd circuit status
  airtcpd circuit status --json | jq '.[].counters.open'";

/// Show the circuit ends on this host
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Print it as JSON: a list, empty if there is none
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    status::run(circuit::NAME, &["device", "control"], "no circuit ends on this host", options.json)
}
