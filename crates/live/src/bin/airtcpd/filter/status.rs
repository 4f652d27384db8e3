//! `airtcpd filter status`.

use super::described;
use airtcp_kernel::filter::{self, FilterError, FlowRecord, Installed};
use airtcp_live::say;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  airtcpd filter status
  airtcpd filter status eth0 --flows
  airtcpd filter status --json --flows";

/// Show what was held back, dropped and answered
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The interface to the fixed hosts [default: all that have a filter]
    interface: Option<String>,

    /// Also show each known flow
    #[arg(long)]
    flows: bool,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> Result<(), FilterError> {
    let filters = match &options.interface {
        Some(interface) => vec![filter::on(interface)?],
        None => filter::installed()?,
    };
    if options.json {
        let documents = filters.iter().map(|filter| document(filter, options.flows));
        say!("{:#}", Value::Array(documents.collect::<Result<_, _>>()?));
        return Ok(());
    }
    if filters.is_empty() {
        say!("no packet control is attached; use `airtcpd filter attach IFACE`");
    }
    filters.iter().try_for_each(|filter| show(filter, options.flows))
}

fn document(filter: &Installed, with_flows: bool) -> Result<Value, FilterError> {
    let mut document = json!({
        "interface": filter.interface(),
        "parameters": filter.parameters()?,
        "totals": filter.totals()?,
    });
    if with_flows {
        document["flows"] = json!(by_activity(filter.flows()));
    }
    Ok(document)
}

fn show(filter: &Installed, with_flows: bool) -> Result<(), FilterError> {
    let totals = filter.totals()?;
    say!("{}: {}", filter.interface(), described(&filter.parameters()?));
    say!("  TCP packets     {:>12}", totals.packets);
    say!("  flows           {:>12} understood since attachment", totals.flows_understood);
    say!("  ACKs            {:>12} passed, {} held back", totals.acks_passed, totals.acks_held);
    say!(
        "  retransmissions {:>12} of acknowledged data dropped, of which {} were answered with an ACK",
        totals.data_dropped,
        totals.data_answered
    );
    if totals.answers_failed > 0 {
        say!("  answers         {:>12} could not be made", totals.answers_failed);
    }
    let flows = if with_flows { by_activity(filter.flows()) } else { Vec::new() };
    for flow in flows {
        say!(
            "  {} → {}: ACKs {} passed, {} held; data {} dropped, {} answered",
            flow.fixed_host,
            flow.mobile_host,
            flow.acks_passed,
            flow.acks_held,
            flow.data_dropped,
            flow.data_answered
        );
    }
    Ok(())
}

/// Sorts flows by what was done to them, the most affected first.
fn by_activity(mut flows: Vec<FlowRecord>) -> Vec<FlowRecord> {
    let key = |flow: &FlowRecord| (flow.acks_held + flow.data_dropped, flow.acks_passed);
    flows.sort_by(|a, b| {
        key(b).cmp(&key(a)).then((a.fixed_host, a.mobile_host).cmp(&(b.fixed_host, b.mobile_host)))
    });
    flows
}
