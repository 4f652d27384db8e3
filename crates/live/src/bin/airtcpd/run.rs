//! `airtcpd run`.

use std::process::ExitCode;

/// One run of a scenario on this host's kernel, as a record
#[derive(clap::Args)]
pub struct Options {}

pub fn run(_options: Options) -> anyhow::Result<ExitCode> {
    anyhow::bail!("run: not yet")
}
