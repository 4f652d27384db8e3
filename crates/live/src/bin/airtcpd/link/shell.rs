//! `airtcpd link --shell`.

use super::Options;
use airtcp_sim::Scenario;
use std::process::ExitCode;

pub fn run(_options: &Options, _scenario: &Scenario) -> anyhow::Result<ExitCode> {
    anyhow::bail!("link --shell: not yet")
}
