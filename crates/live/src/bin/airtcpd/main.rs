//! `airtcpd`: airtcp on real hosts. Each command has a file of its own; the libraries do the work.

mod cc;
mod circuit;
mod daemons;
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

use airtcp_live::warn;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Fast TCP over lossy links, on this host's unpatched kernel.
#[derive(Parser)]
#[command(name = "airtcpd", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What `airtcpd` can do: a line for each command, whose module has its `Options` and `run`.
macro_rules! commands {
    ($($(#[$attribute:meta])* $Command:ident($module:ident),)*) => {
        #[derive(Subcommand)]
        enum Command {
            $($(#[$attribute])* $Command(Box<$module::Options>),)*
        }

        impl Command {
            fn run(self) -> anyhow::Result<ExitCode> {
                match self {
                    $(Command::$Command(options) => $module::run(*options),)*
                }
            }
        }
    };
}

commands! {
    Link(link),
    Cc(cc),
    Filter(filter),
    Rto(rto),
    Proxy(proxy),
    Circuit(circuit),
    Decouple(decouple),
    HeaderFirst(header_first),
    Run(run),
    Doctor(doctor),
    #[command(hide = true)]
    Generate(generate),
}

fn program() -> clap::Command {
    daemons::with_examples(Cli::command())
}

fn main() -> ExitCode {
    let asked = Cli::from_arg_matches(&program().get_matches()).unwrap_or_else(|error| error.exit());
    asked.command.run().unwrap_or_else(|error| {
        warn!("airtcpd: {error:#}");
        if input::is_bad(&error) { ExitCode::from(input::STATUS) } else { ExitCode::FAILURE }
    })
}
