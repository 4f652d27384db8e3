//! The daemons of airtcpd as a table, and what all of them have: `status` and `clean`.

use airtcp_live::namespace::leftovers;
use airtcp_live::{circuit, daemon, decouple, header_first, say};
use clap::Command;
use serde_json::Value;
use std::process::ExitCode;

/// A daemon, as those see it who ask for its status.
pub struct Daemon {
    /// The command, and [`Service::NAME`](daemon::Service::NAME).
    name: &'static str,
    /// Constant values that `status` prints, in order.
    about: &'static [&'static str],
    /// Printed if none runs.
    none: &'static str,
    /// One of its counters, as an example.
    counter: &'static str,
    /// More on its status.
    status_help: &'static str,
    /// What a killed one leaves.
    left: &'static str,
}

const DAEMONS: &[Daemon] = &[
    Daemon {
        name: "proxy",
        about: &["wireless", "wired"],
        none: "no proxy is running",
        counter: "connections",
        status_help: "",
        left: "a policy route",
    },
    Daemon {
        name: circuit::NAME,
        about: &["device", "control"],
        none: "no circuit ends on this host",
        counter: "open",
        status_help: "",
        left: "policy rules and perhaps a sysctl",
    },
    Daemon {
        name: decouple::NAME,
        about: &["control"],
        none: "nothing is decoupled here",
        counter: "circuit_open",
        status_help: "The program's side is called wired here, the circuit's wireless, as in `airtcpd proxy status`.",
        left: "a sysctl and perhaps a cgroup with its command",
    },
    Daemon {
        name: header_first::NAME,
        about: &["mark"],
        none: "no header packets are dropped first on this host",
        counter: "dropped_header_packets_total",
        status_help: "",
        left: "a socket in /run/airtcp",
    },
];

/// What can be asked of any daemon.
#[derive(clap::Subcommand)]
pub enum Action {
    /// Show those that run on this host
    Status {
        /// Print it as JSON: a list, empty if there is none
        #[arg(long)]
        json: bool,
    },
    /// Undo what killed ones left behind
    Clean,
}

impl Action {
    /// `name` is the daemon's.
    pub fn run(&self, name: &str) -> anyhow::Result<ExitCode> {
        let daemon = DAEMONS.iter().find(|daemon| daemon.name == name).expect("a daemon of the table");
        match self {
            Action::Status { json } => daemon.status(*json)?,
            Action::Clean => clean()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Gives the actions of each daemon their examples.
pub fn with_examples(program: Command) -> Command {
    DAEMONS.iter().fold(program, |program, daemon| {
        program.mut_subcommand(daemon.name, |command| {
            command
                .mut_subcommand("status", |status| status.after_help(daemon.status_examples()))
                .mut_subcommand("clean", |clean| clean.after_help(daemon.clean_examples()))
        })
    })
}

impl Daemon {
    fn status_examples(&self) -> String {
        let Daemon { name, counter, status_help, .. } = self;
        let examples = format!(
            "Examples:\n  airtcpd {name} status\n  airtcpd {name} status --json | jq '.[].counters.{counter}'"
        );
        if status_help.is_empty() { examples } else { format!("{examples}\n\n{status_help}") }
    }

    fn clean_examples(&self) -> String {
        let Daemon { name, left, .. } = self;
        format!(
            "Examples:\n  airtcpd {name} clean\n\nOne that ends undoes what it has set up. What a killed one leaves, {left}, \
             is undone by this, and by the next start of any airtcpd daemon."
        )
    }

    fn status(&self, json: bool) -> anyhow::Result<()> {
        let statuses = daemon::statuses(self.name)?;
        if json {
            say!("{:#}", Value::Array(statuses));
        } else if statuses.is_empty() {
            say!("{}", self.none);
        } else {
            statuses.iter().for_each(|status| self.show(status));
        }
        Ok(())
    }

    fn show(&self, status: &Value) {
        say!("{} (process {})", status[self.name].as_str().unwrap_or_default(), status["pid"]);
        for key in self.about {
            if let Some(value) = status[key].as_str() {
                say!("  {key:<30}{value}");
            }
        }
        for (name, value) in status["counters"].as_object().into_iter().flatten() {
            say!("  {name:<30}{value}");
        }
    }
}

fn clean() -> anyhow::Result<()> {
    let undone = leftovers::clean()?;
    if undone.is_empty() {
        say!("nothing to clean up");
    }
    for change in undone {
        say!("undone: {change}");
    }
    Ok(())
}
