//! `airtcpd`: airtcp on real hosts. Each command has a file of its own; the libraries do the work.

mod cc;
mod circuit;
mod clean;
mod decouple;
mod doctor;
mod filter;
mod generate;
mod header_first;
mod input;
mod link;
mod log;
mod proxy;
mod rto;
mod run;
mod sender_scheme;
mod status;

use airtcp_live::warn;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Fast TCP over lossy links, on this host's unpatched kernel.
#[derive(Parser)]
#[command(name = "airtcpd", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Link(link::Options),
    Cc(cc::Options),
    Filter(filter::Options),
    Rto(rto::Options),
    Proxy(proxy::Options),
    Circuit(circuit::Options),
    Decouple(Box<decouple::Options>),
    HeaderFirst(header_first::Options),
    Run(run::Options),
    Doctor(doctor::Options),
    #[command(hide = true)]
    Generate(generate::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Link(options) => link::run(options),
        Command::Cc(options) => cc::run(options),
        Command::Filter(options) => filter::run(&options),
        Command::Rto(options) => rto::run(options),
        Command::Proxy(options) => proxy::run(options),
        Command::Circuit(options) => circuit::run(options),
        Command::Decouple(options) => decouple::run(*options),
        Command::HeaderFirst(options) => header_first::run(options),
        Command::Run(options) => run::run(options),
        Command::Doctor(options) => doctor::run(options),
        Command::Generate(options) => generate::run::<Cli>(&options).map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        warn!("airtcpd: {error:#}");
        if input::is_bad(&error) { ExitCode::from(input::STATUS) } else { ExitCode::FAILURE }
    })
}
