//! Shows the daemons of this host.

use airtcp_live::{daemon, say};
use serde_json::Value;
use std::process::ExitCode;

/// Prints the status of the daemons called `name`. `about` has the keys of constant values, in order of printing;
/// `none` is printed if there is no daemon.
pub fn run(name: &str, about: &[&str], none: &str, json: bool) -> anyhow::Result<ExitCode> {
    let statuses = daemon::statuses(name)?;
    if json {
        say!("{:#}", Value::Array(statuses));
    } else if statuses.is_empty() {
        say!("{none}");
    } else {
        statuses.iter().for_each(|status| show(name, about, status));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, about: &[&str], status: &Value) {
    say!("{} (process {})", status[name].as_str().unwrap_or_default(), status["pid"]);
    for key in about {
        if let Some(value) = status[key].as_str() {
            say!("  {key:<30}{value}");
        }
    }
    for (name, value) in status["counters"].as_object().into_iter().flatten() {
        say!("  {name:<30}{value}");
    }
}
