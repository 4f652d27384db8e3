//! `airtcpd cc status`.

use super::table::Table;
use airtcp_kernel::cc::{self, Pinned};
use airtcp_live::say;
use serde_json::{Value, json};

const EXAMPLES: &str = "\
Examples:
  airtcpd cc status
  airtcpd cc status westwood-vt --json";

/// Show the loaded controllers' counters, parameters and where they apply
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// [default: all that airtcpd has loaded]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(options: &Options) -> anyhow::Result<()> {
    let loaded = match options.names.is_empty() {
        true => cc::pinned()?,
        false => options.names.iter().map(|name| cc::open(name)).collect::<Result<_, _>>()?,
    };
    if options.json {
        let all = loaded.iter().map(to_json).collect::<anyhow::Result<Vec<_>>>()?;
        say!("{:#}", Value::Array(all));
    } else if loaded.is_empty() {
        say!("nothing is loaded; `airtcpd cc list` shows what is available");
    } else {
        say!("{}", table(&loaded)?.to_string().trim_end());
        for pinned in &loaded {
            print_rest(pinned)?;
        }
    }
    Ok(())
}

fn table(loaded: &[Pinned]) -> anyhow::Result<Table> {
    let mut table = Table::new(&[
        "name",
        "sockets",
        "ever",
        "corruption",
        "congestion",
        "undecided",
        "ECN-Echo",
        "timeouts",
        "reductions",
        "avoided",
        "yields",
        "rivals",
    ]);
    for pinned in loaded {
        let counters = pinned.counters()?;
        let counts = [
            counters.sockets(),
            counters.sockets_opened,
            counters.losses_corruption,
            counters.losses_congestion,
            counters.losses_undecided,
            counters.ecn_echoes,
            counters.timeouts,
            counters.reductions,
            counters.reductions_avoided,
            counters.yields,
            counters.rivals,
        ];
        table.row(std::iter::once(pinned.name().to_owned()).chain(counts.map(|count| count.to_string())));
    }
    Ok(table)
}

fn print_rest(pinned: &Pinned) -> anyhow::Result<()> {
    let params = super::params_text(&pinned.params()?);
    if !params.is_empty() {
        say!("{}: {params}", pinned.name());
    }
    for applied in pinned.applied() {
        say!("{}: for {applied}", pinned.name());
    }
    Ok(())
}

fn to_json(pinned: &Pinned) -> anyhow::Result<Value> {
    let counters = pinned.counters()?;
    Ok(json!({
        "name": pinned.name(),
        "scheme": pinned.controller().scheme(),
        "sockets": counters.sockets(),
        "counters": counters,
        "params": pinned.params()?,
        "applied": pinned.applied(),
    }))
}
