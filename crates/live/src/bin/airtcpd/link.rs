//! `airtcpd link`.

use std::process::ExitCode;

/// Emulate a scenario's path in real time, between two interfaces or around a command
#[derive(clap::Args)]
pub struct Options {}

pub fn run(_options: Options) -> anyhow::Result<ExitCode> {
    anyhow::bail!("link: not yet")
}
