//! `airtcpd proxy status`.

use crate::status;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd proxy status
  airtcpd proxy status --json | jq '.[].counters.connections'";

/// Show the proxies running on this host
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Print it as JSON: a list, empty if there is none
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    status::run("proxy", &["wireless", "wired"], "no proxy is running", options.json)
}
