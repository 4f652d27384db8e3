//! `airtcpd filter list`.

use super::described;
use airtcp_kernel::filter::{self, FilterError};
use airtcp_live::say;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  airtcpd filter list
  airtcpd filter list --json";

/// List attached filters, in this network namespace and others
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
        say!("no packet control is attached; use `airtcpd filter attach IFACE`");
    }
    for filter in filters {
        say!("{}: {}", filter.interface(), described(&filter.parameters()?));
    }
    Ok(())
}
