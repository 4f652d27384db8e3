//! `airtcpd doctor`.

use std::process::ExitCode;

/// What this host can do, and what is missing
#[derive(clap::Args)]
pub struct Options {}

pub fn run(_options: Options) -> anyhow::Result<ExitCode> {
    anyhow::bail!("doctor: not yet")
}
