//! `airtcpd header-first`.

use crate::input::BadInput;
use crate::{daemons, log};
use airtcp_kernel::filter::FilterError;
use airtcp_kernel::header_first::{MAX_HEADERS, Parameters};
use airtcp_live::daemon;
use airtcp_live::header_first::{HeaderFirst, NAME};
use airtcp_live::namespace::leftovers;
use airtcp_wire::circuit::Mark;
use serde_json::json;
use std::process::{self, ExitCode};

const EXAMPLES: &str = "\
Examples:
  airtcpd header-first eth1 --max-headers 40
      on a router whose queue towards eth1 was made, for example, with
      tc qdisc replace dev eth1 root tbf rate 10mbit burst 10kb limit 600kb
      circuits keep some 40 data packets of 1500 bytes in it, and lose none of them
  airtcpd header-first status

Run it as root on a router whose queue fills up with the packets of circuits (`airtcpd circuit`, `airtcpd decouple`). When enough
header packets wait in the queue, further ones are dropped before any data is: their control TCPs slow down, and the data
for which they stand never overflows the queue. Header packets that wait, times VMSS, bound the data that waits: give the
queue room for more, since data comes before the control TCPs have slowed down. Other traffic passes as before.

Header packets are known by bits of their DSCP (docs: circuit-wire.md, \"The mark\"), so the router needs no key. The queue
remains the kernel's, and must be a FIFO: pfifo, bfifo or tbf. After it is changed, start this again. Needs Linux 6.6.

SIGTERM, SIGINT or SIGHUP stops it, and the program leaves the interface; so it does if the daemon is killed.";

/// Drop circuits' header packets before data where a router's queue fills up (paper 000 §4.7.1), until a signal ends it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Options {
    #[command(subcommand)]
    action: Option<daemons::Action>,

    #[command(flatten)]
    run: Run,
}

#[derive(clap::Args)]
struct Run {
    /// Interface by which packets leave
    #[arg(required = true)]
    interface: Option<String>,

    /// Header packets that may wait in the queue, 1 to 4096; with VMSS they bound the data that waits
    #[arg(long, value_name = "COUNT", required = true, value_parser = max_headers)]
    max_headers: Option<u32>,

    /// DSCP bits by which header packets are known, as set by the sending gateway's --mark
    #[arg(long, value_name = "BITS", default_value_t, value_parser = mark)]
    mark: Mark,

    #[command(flatten)]
    reports: log::Reports,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Some(action) => action.run(NAME),
        None => options.run.run().map_err(|error| match error.downcast::<FilterError>() {
            Ok(bad @ (FilterError::NoInterface(_) | FilterError::NoFifo { .. })) => {
                BadInput(bad.to_string()).into()
            }
            Ok(other) => other.into(),
            Err(other) => other,
        }),
    }
}

impl Run {
    fn run(self) -> anyhow::Result<ExitCode> {
        let Run { interface, max_headers, mark, reports } = self;
        let (Some(interface), Some(max_headers)) = (interface, max_headers) else { unreachable!("required") };
        leftovers::clean_up();
        log::begin(reports.log, false);
        let about = json!({
            "pid": process::id(),
            NAME: format!("{interface}: {max_headers} header packets may wait"),
            "interface": interface,
            "max_headers": max_headers,
            "mark": mark.to_string(),
        });
        let parameters = Parameters { max_headers, mark };
        let service = HeaderFirst { interface, parameters, counters: Default::default() };
        daemon::run(&service, reports.metrics.as_ref(), about)
    }
}

fn max_headers(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|count| MAX_HEADERS.contains(count));
    number.ok_or_else(|| format!("write {} to {}", MAX_HEADERS.start(), MAX_HEADERS.end()))
}

/// Without a mark there are no header packets to drop.
fn mark(text: &str) -> Result<Mark, String> {
    let mark = text.parse::<Mark>()?;
    if mark == Mark::NONE {
        Err("header packets can be known only by a mark: write 1 to 63".to_owned())
    } else {
        Ok(mark)
    }
}
