//! Undoes what killed daemons have left.

use airtcp_live::namespace::leftovers;
use airtcp_live::say;
use std::process::ExitCode;

pub fn run() -> anyhow::Result<ExitCode> {
    let undone = leftovers::clean()?;
    if undone.is_empty() {
        say!("nothing to clean up");
    }
    for change in undone {
        say!("undone: {change}");
    }
    Ok(ExitCode::SUCCESS)
}
