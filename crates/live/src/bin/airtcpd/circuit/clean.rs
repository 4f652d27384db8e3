//! `airtcpd circuit clean`.

use crate::clean;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd circuit clean

A gateway undoes what it has set up, and of a killed one the device goes by itself. What stays are policy rules and perhaps a
sysctl, which this undoes; the next start of any airtcpd daemon would do so as well.";

/// Undo what killed gateways left behind
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {}

pub fn run(_options: &Options) -> anyhow::Result<ExitCode> {
    clean::run()
}
