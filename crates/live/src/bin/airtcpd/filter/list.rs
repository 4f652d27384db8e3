//! `airtcpd filter list`.

use super::described;
use airtcp_kernel::filter::{self, FilterError};
use airtcp_live::say;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  airtcpd filter list
  airtcpd filter list --json";

/// Where filters are attached, in this network namespace and others
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), FilterError> {
    let filters = filter::installed()?;
    if options.json {
        let documents = filters
            .iter()
            .map(|filter| Ok(json!({"interface": filter.interface(), "parameters": filter.parameters()?})));
        say!("{:#}", Value::Array(documents.collect::<Result<_, FilterError>>()?));
        return Ok(());
    }
    if filters.is_empty() {
        say!("no packet control is attached; `airtcpd filter attach IFACE` does it");
    }
    for filter in filters {
        say!("{}: {}", filter.interface(), described(&filter.parameters()?));
    }
    Ok(())
}
