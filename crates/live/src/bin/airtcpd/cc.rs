//! `airtcpd cc`.

use std::process::ExitCode;

/// Load congestion controls into the running kernel, watch and unload them
#[derive(clap::Args)]
pub struct Options {}

pub fn run(_options: Options) -> anyhow::Result<ExitCode> {
    anyhow::bail!("cc: not yet")
}
