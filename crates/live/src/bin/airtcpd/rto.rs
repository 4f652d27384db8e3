//! `airtcpd rto`.

use std::process::ExitCode;

/// RTO = SRTT + m·RTTVAR for the connections of a cgroup
#[derive(clap::Args)]
pub struct Options {}

pub fn run(_options: Options) -> anyhow::Result<ExitCode> {
    anyhow::bail!("rto: not yet")
}
