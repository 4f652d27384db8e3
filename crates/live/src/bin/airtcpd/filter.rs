//! `airtcpd filter`.

mod attach;
mod list;
mod status;

use crate::input::BadInput;
use airtcp_kernel::filter::{self, FilterError, Parameters};
use airtcp_live::say;
use airtcp_wire::{Dur, human};
use clap::Subcommand;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  airtcpd filter attach eth0
      on a router between fixed hosts, behind eth0, and mobile hosts: thins out duplicate ACKs, and does not resend data that a
      mobile host has already acknowledged
  airtcpd filter attach eth0 --ack-threshold 9 --no-data-filter
      lets three of nine duplicate ACKs pass; drops no data
  airtcpd filter status eth0 --flows
      what was held, dropped and answered, in total and per flow
  airtcpd filter set eth0 --ack-threshold 12
  airtcpd filter detach eth0

The filter stays until it is detached, its interface disappears, or the host reboots, and covers the flows that the router
forwards between eth0 and any other interface. A flow already under way is left alone until some of its data has been seen
and acknowledged. Fragments, IPv4 options, IPv6 extension headers and tagged frames pass untouched. Each flow takes some
256 bytes of kernel memory: 4 MiB with the default of 16384, plus 1 MiB for those not yet understood.
Changing anything needs root. Before Linux 6.6 the programs are filters of the interface's clsact qdisc.";

/// Filter duplicate ACKs and repeated data at a base station (paper 001), in the kernel
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Attach(attach::Options),
    List(list::Options),
    Status(status::Options),
    Set(SetOptions),
    Detach(DetachOptions),
}

const SET_EXAMPLES: &str = "\
Examples:
  airtcpd filter set eth0 --ack-threshold 12
  airtcpd filter set eth0 --data-filter off --idle 60s";

/// Change an attached filter, including for known flows
#[derive(clap::Args)]
#[command(after_help = SET_EXAMPLES, group = clap::ArgGroup::new("change").required(true).multiple(true))]
struct SetOptions {
    /// The interface to the fixed hosts
    interface: String,

    /// Duplicate ACKs from a mobile host that count as three for the fixed host: 3, 6, 9 or 12
    #[arg(long, value_name = "N", group = "change")]
    ack_threshold: Option<u32>,

    /// Drop old and duplicate ACKs
    #[arg(long, value_name = "ON|OFF", group = "change", value_parser = on_or_off)]
    ack_filter: Option<bool>,

    /// Drop data that has been acknowledged
    #[arg(long, value_name = "ON|OFF", group = "change", value_parser = on_or_off)]
    data_filter: Option<bool>,

    /// Forget a flow after this much silence
    #[arg(long, value_name = "TIME", group = "change", value_parser = human::parse::<Dur>)]
    idle: Option<Dur>,
}

const DETACH_EXAMPLES: &str = "\
Examples:
  airtcpd filter detach eth0
  airtcpd filter detach --all
      in all network namespaces";

/// Detach a filter from its interface
#[derive(clap::Args)]
#[command(after_help = DETACH_EXAMPLES, group = clap::ArgGroup::new("which").required(true))]
struct DetachOptions {
    /// The interface to the fixed hosts
    #[arg(group = "which")]
    interface: Option<String>,

    /// Detach all filters
    #[arg(long, group = "which")]
    all: bool,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let done = match &options.command {
        Command::Attach(options) => attach::run(options),
        Command::List(options) => list::run(options),
        Command::Status(options) => status::run(options),
        Command::Set(options) => set(options),
        Command::Detach(options) => detach(options),
    };
    done.map_err(|error| match error {
        FilterError::Parameters(_) | FilterError::NoInterface(_) => BadInput(error.to_string()).into(),
        other => anyhow::Error::from(other),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn set(options: &SetOptions) -> Result<(), FilterError> {
    let filter = filter::on(&options.interface)?;
    let before = filter.parameters()?;
    let parameters = Parameters {
        threshold: options.ack_threshold.unwrap_or(before.threshold),
        ack_filter: options.ack_filter.unwrap_or(before.ack_filter),
        data_filter: options.data_filter.unwrap_or(before.data_filter),
        idle: options.idle.unwrap_or(before.idle),
        ..before
    };
    filter.set(&parameters)?;
    say!("{}: {}", options.interface, described(&parameters));
    Ok(())
}

fn detach(options: &DetachOptions) -> Result<(), FilterError> {
    let Some(interface) = &options.interface else {
        return filter::installed()?.into_iter().try_for_each(|filter| {
            let interface = filter.interface();
            filter.uninstall().map(|()| say!("detached from {interface}"))
        });
    };
    filter::uninstall(interface).map(|()| say!("detached from {interface}"))
}

fn described(parameters: &Parameters) -> String {
    let switch = |is_on: bool| if is_on { "on" } else { "off" };
    format!(
        "ACK filter {} (threshold {}), data filter {}, flows forgotten after {}, maximum {} flows",
        switch(parameters.ack_filter),
        parameters.threshold,
        switch(parameters.data_filter),
        parameters.idle,
        parameters.max_flows
    )
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("write on or off".to_owned()),
    }
}
