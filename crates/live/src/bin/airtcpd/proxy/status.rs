//! `airtcpd proxy status`.

use airtcp_live::{proxy, say};
use serde_json::Value;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd proxy status
  airtcpd proxy status --json | jq '.[].counters.connections'";

/// What the proxies of this host do
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Print it as JSON: a list, empty if there is none
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let statuses = proxy::statuses()?;
    if options.json {
        say!("{:#}", Value::Array(statuses));
    } else if statuses.is_empty() {
        say!("no proxy runs");
    } else {
        statuses.iter().for_each(show);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(status: &Value) {
    say!("{} (process {})", status["proxy"].as_str().unwrap_or_default(), status["pid"]);
    for side in ["wireless", "wired"] {
        say!("  {side:<26}{}", status[side].as_str().unwrap_or_default());
    }
    for (name, value) in status["counters"].as_object().into_iter().flatten() {
        say!("  {name:<26}{value}");
    }
}
