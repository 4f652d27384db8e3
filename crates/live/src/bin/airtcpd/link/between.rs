//! `airtcpd link --between A B`.

use super::Options;
use airtcp_sim::Scenario;
use std::process::ExitCode;

pub fn run(_options: &Options, _scenario: &Scenario, _names: [&str; 2]) -> anyhow::Result<ExitCode> {
    anyhow::bail!("link --between: not yet")
}
