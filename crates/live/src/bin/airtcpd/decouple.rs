//! `airtcpd decouple`.

use crate::circuit::{key, options::CircuitOptions};
use crate::input::BadInput;
use crate::{clean, log, status};
use airtcp_live::daemon;
use airtcp_live::decouple::{Decoupling, NAME, Program};
use airtcp_live::emulate::Prefix;
use airtcp_live::namespace::leftovers;
use airtcp_live::proxy::{Config, Entrance, Limits, Tuning, allow_files};
use airtcp_wire::Dur;
use airtcp_wire::circuit::PORTS;
use airtcp_wire::human::{self, Bytes};
use anyhow::Context;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{self, ExitCode};

const EXAMPLES: &str = "\
Examples:
  airtcpd decouple --to 192.0.2.2 --key-file circuit.key
      what programs of this host connect to 192.0.2.2 is carried, where `airtcpd circuit receive` listens at port 4007
  airtcpd decouple --to 10.3.0.0/24 --receiver 10.1.0.2:4007 --key-file circuit.key --control bbr
      … to 10.3.0.0/24, where that listens on the router in front of it
  airtcpd decouple --receiver 192.0.2.2:4007 --key-file circuit.key -- rsync -a photos 192.0.2.2:
      what this command connects to, wherever; its exit status is the answer
  airtcpd decouple status
  airtcpd decouple clean

What a program sends is carried with TCP decoupling (paper 000): data packets lost over the air are sent again and slow nothing
down, header packets beside them have the congestion control. What it receives comes as the other end sends it. The program's
connection ends in this host, and a data TCP of airtcp's own goes on from there: connecting succeeds at once, and where it fails
later that is told as a reset. FIN and RST are handed on, both ways.

It takes root and nft (nftables); with a command, cgroups of version 2. Data TCPs have an address that is nobody else's
(100.64.0.0/10), which is masqueraded; the interfaces on the way forward for it meanwhile, and for nobody else. IPv6 takes Linux
6.17, or a host that forwards IPv6. While the receiver does not answer, new connections go on by the kernel's TCP; open ones
wait for it for --connect-timeout, and are reset then.

SIGTERM, SIGINT or SIGHUP ends it, or the command does: open connections may go on for --drain, and what it has set up is undone.";

const STATUS_EXAMPLES: &str = "\
Examples:
  airtcpd decouple status
  airtcpd decouple status --json | jq '.[].counters.circuit_open'

The program's side is called wired here, the circuit's wireless, as in `airtcpd proxy status`.";

const CLEAN_EXAMPLES: &str = "\
Examples:
  airtcpd decouple clean

What a killed one leaves is a sysctl and perhaps a cgroup with its command, which this undoes; the next start of any airtcpd
daemon would do so as well. Run it in the network namespace of the daemon.";

/// The reliable decoupling socket (paper 000 §5) for programs as they are: their TCP goes through a circuit
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Options {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    run: Run,
}

#[derive(clap::Subcommand)]
enum Action {
    /// What is carried on this host
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// Print it as JSON: a list, empty if there is none
        #[arg(long)]
        json: bool,
    },
    /// Undo what killed ones have left
    #[command(after_help = CLEAN_EXAMPLES)]
    Clean,
}

#[derive(clap::Args)]
struct Run {
    /// Connections to these addresses are carried, for example 10.3.0.0/24; give it once for each [default with a COMMAND: all
    /// that take the link on which the receiver is]
    #[arg(long = "to", value_name = "PREFIX", required_unless_present = "command")]
    prefixes: Vec<Prefix>,

    /// Where `airtcpd circuit receive` listens [default: port 4007 of --to, if that is one host]
    #[arg(long, value_name = "ADDRESS")]
    receiver: Option<SocketAddr>,

    /// The file with the key, as `airtcpd circuit key` writes it
    #[arg(long, value_name = "FILE", required = true)]
    key_file: Option<PathBuf>,

    #[command(flatten)]
    circuit: CircuitOptions,

    /// How long each buffer of a data TCP is: what a round trip carries, twice
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>, default_value = "1MiB")]
    buffer: Bytes,

    /// What all buffers may come to hold, the kernel's included: then they grow no more, and new connections wait
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>, default_value = "1GB")]
    memory: Bytes,

    /// How long the other end may take to answer, and the receiver to come back
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value = "30s")]
    connect_timeout: Dur,

    /// How long open connections may go on when it is told to end, or the command has ended
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value = "30s")]
    drain: Dur,

    #[command(flatten)]
    reports: log::Reports,

    /// A command and its arguments, whose connections alone are carried
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Some(Action::Status { json }) => status::run(NAME, &["control"], "nothing is decoupled here", json),
        Some(Action::Clean) => clean::run(),
        None => options.run.run(),
    }
}

impl Run {
    fn run(&self) -> anyhow::Result<ExitCode> {
        let service = self.service()?;
        leftovers::clean_up();
        if self.command.is_empty() {
            log::begin(self.reports.log, false);
        } else {
            log::begin_warnings(self.reports.log);
        }
        let prefixes: Vec<_> = service.prefixes.iter().map(ToString::to_string).collect();
        let whose = self.command.first().map_or_else(String::new, |command| format!(" of {command}"));
        let what = format!("connections{whose} to {} through {}", prefixes.join(", "), service.receiver);
        let about = json!({
            "pid": process::id(),
            NAME: what,
            "control": self.circuit.control.label,
            "controls": self.circuit.controls,
            "vmss_bytes": self.circuit.vmss.0,
            "buffer_bytes": self.buffer.0,
            "memory_bytes": self.memory.0,
        });
        tracing::info!(control = %self.circuit.control.label, "{what}");
        daemon::run(&service, self.reports.metrics.as_ref(), about)
    }

    fn service(&self) -> anyhow::Result<Decoupling> {
        let circuit = self.circuit.config()?;
        let tcp = &self.circuit.control.config;
        let limits = Limits {
            memory: self.memory,
            connect_timeout: self.connect_timeout,
            drain: self.drain,
            ..Limits::default()
        };
        let connections = allow_files(limits.connections)?;
        let proxy = Config {
            entrance: Entrance::Redirected,
            wireless: Tuning { buffer: Some(self.buffer), ..Tuning::default() },
            wired: Tuning::default(),
            own: Some(Box::new(circuit.data_tcp(tcp))),
            limits: Limits { connections, ..limits },
        };
        Ok(Decoupling {
            receiver: self.receiver()?,
            prefixes: self.prefixes(),
            program: self.program(),
            key: key::read(self.key_file.as_deref().context("--key-file is missing")?)?,
            tcp: tcp.clone(),
            circuit,
            proxy,
            counters: Default::default(),
        })
    }

    fn receiver(&self) -> Result<SocketAddr, BadInput> {
        let of_one_host = || match self.prefixes[..] {
            [prefix] => prefix.host().map(|host| SocketAddr::new(host, *PORTS.start())),
            _ => None,
        };
        self.receiver.or_else(of_one_host).ok_or_else(|| {
            BadInput(
                "--receiver is missing: only --to one host says where `airtcpd circuit receive` is".into(),
            )
        })
    }

    fn prefixes(&self) -> Vec<Prefix> {
        match self.prefixes[..] {
            [] => {
                let any = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()];
                any.map(|address| Prefix { address, len: 0 }).to_vec()
            }
            _ => self.prefixes.clone(),
        }
    }

    fn program(&self) -> Option<Program> {
        let (path, arguments) = self.command.split_first()?;
        Some(Program { path: path.clone(), arguments: arguments.to_vec() })
    }
}
