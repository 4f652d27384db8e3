//! `airtcpd cc unload`.

use airtcp_kernel::cc::{self, Unloaded};
use airtcp_live::{say, warn};

const EXAMPLES: &str = "\
Examples:
  airtcpd cc unload westwood-vt veno
  airtcpd cc unload --all";

/// Unload controllers from the kernel, and undo their assignments
///
/// Sockets using a controller keep it, and the kernel keeps its program, until they close. A controller with an
/// assignment that cannot be undone stays loaded; the others are unloaded anyway.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Scheme names, or their names in the kernel
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,

    /// All that airtcpd has loaded
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Unload even if an assignment cannot be undone
    #[arg(long)]
    force: bool,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let names = if options.all { cc::pinned_names()? } else { options.names.clone() };
    if names.is_empty() {
        say!("nothing is loaded");
    }
    let mut failures = Vec::new();
    for name in names {
        match cc::unload(&name, options.force) {
            Ok(unloaded) => tell(unloaded),
            Err(error) => failures.push(error.to_string()),
        }
    }
    anyhow::ensure!(failures.is_empty(), failures.join("\n"));
    Ok(())
}

fn tell(unloaded: Unloaded) {
    let name = unloaded.name;
    say!("unloaded {name}{}", sockets_text(unloaded.sockets));
    for undone in unloaded.undone {
        say!("  undone: {undone}");
    }
    for left in unloaded.left {
        warn!("  left: {left}");
    }
    if unloaded.is_default {
        warn!(
            "warning: net.ipv4.tcp_congestion_control of this network namespace is {name} still; set another: \
             sysctl -w net.ipv4.tcp_congestion_control=cubic"
        );
    }
}

fn sockets_text(sockets: Option<u64>) -> String {
    match sockets {
        Some(0) | None => String::new(),
        Some(1) => "; 1 socket keeps it until it closes".to_owned(),
        Some(sockets) => format!("; {sockets} sockets keep it until they close"),
    }
}
