//! `airtcpd proxy clean`.

use crate::clean;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd proxy clean

A proxy undoes what it has set up, and a killed one mostly, too: the kernel takes its table of nft along. What stays is a
policy route, which this undoes; the next start of any airtcpd daemon would do so as well.";

/// Undo what killed proxies left behind
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {}

pub fn run(_options: &Options) -> anyhow::Result<ExitCode> {
    clean::run()
}
