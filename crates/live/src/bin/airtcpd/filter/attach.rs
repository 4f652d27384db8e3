//! `airtcpd filter attach`.

use super::described;
use airtcp_kernel::filter::{self, FilterError, Hooks, Parameters};
use airtcp_live::say;
use airtcp_wire::{Dur, human};

const EXAMPLES: &str = "\
Examples:
  airtcpd filter attach eth0
  airtcpd filter attach eth0 --ack-threshold 9 --idle 60s --max-flows 65536";

/// Attach packet control to the interface facing the fixed hosts
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The interface to the fixed hosts
    interface: String,

    /// Duplicate ACKs from a mobile host that count as three for the fixed host: 3, 6, 9 or 12; with 3 all pass [default: 6]
    #[arg(long, value_name = "N")]
    ack_threshold: Option<u32>,

    /// Let all ACKs pass
    #[arg(long)]
    no_ack_filter: bool,

    /// Let all data pass
    #[arg(long)]
    no_data_filter: bool,

    /// Forget a flow after this much silence, 1s to a day [default: 300s]
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>)]
    idle: Option<Dur>,

    /// Maximum flows remembered, 16 to 1048576, some 256 bytes each [default: 16384]
    #[arg(long, value_name = "N")]
    max_flows: Option<u32>,

    /// Attach to the clsact qdisc, where `tc filter show` lists the programs, as on kernels without tcx (before 6.6)
    #[arg(long)]
    clsact: bool,
}

pub fn run(options: &Options) -> Result<(), FilterError> {
    let default = Parameters::default();
    let parameters = Parameters {
        threshold: options.ack_threshold.unwrap_or(default.threshold),
        ack_filter: !options.no_ack_filter,
        data_filter: !options.no_data_filter,
        idle: options.idle.unwrap_or(default.idle),
        max_flows: options.max_flows.unwrap_or(default.max_flows),
    };
    let hooks = if options.clsact { Hooks::Clsact } else { Hooks::Newest };
    let filter = filter::install(&options.interface, &parameters, hooks)?;
    say!("attached to {}: {}", filter.interface(), described(&parameters));
    Ok(())
}
