//! `airtcpd decouple`.

use crate::circuit::{key, options::CircuitOptions};
use crate::input::BadInput;
use crate::{daemons, log};
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
      carries this host's connections to 192.0.2.2, where `airtcpd circuit receive` listens on port 4007
  airtcpd decouple --to 10.3.0.0/24 --receiver 10.1.0.2:4007 --key-file circuit.key --control bbr
      carries connections to 10.3.0.0/24; the receiver is the router in front of it
  airtcpd decouple --receiver 192.0.2.2:4007 --key-file circuit.key -- rsync -a photos 192.0.2.2:
      carries all connections of this command, and exits with its status
  airtcpd decouple status
  airtcpd decouple clean

Data that a program sends is carried with TCP decoupling (paper 000): data packets lost over the air are resent and slow nothing
down; header packets beside them carry the congestion control. Data it receives arrives as the other end sends it. The program's
connection ends in this host, and airtcp's own data TCP continues from there: connecting succeeds at once, and a later failure
shows as a reset. FIN and RST are passed on in both directions.

Needs root and nft (nftables); with a command, also cgroup v2. Data TCPs use an otherwise unused address
(100.64.0.0/10), which is masqueraded; the interfaces on the way forward for it alone in the meantime. IPv6 needs Linux
6.17, or a host that forwards IPv6. While the receiver does not answer, new connections use the kernel's TCP; open ones
wait for it for --connect-timeout, and are then reset.

SIGTERM, SIGINT, SIGHUP or the end of the command stops it: open connections may continue for --drain, and its setup is undone.";

/// Carry unmodified programs' TCP through a circuit: the reliable decoupling socket (paper 000 §5)
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
    /// Carry connections to these addresses, for example 10.3.0.0/24; repeatable [default with a COMMAND: all that
    /// use the receiver's link]
    #[arg(long = "to", value_name = "PREFIX", required_unless_present = "command")]
    prefixes: Vec<Prefix>,

    /// Address of `airtcpd circuit receive` [default: port 4007 of --to, if that is one host]
    #[arg(long, value_name = "ADDRESS")]
    receiver: Option<SocketAddr>,

    /// Key file, as written by `airtcpd circuit key`
    #[arg(long, value_name = "FILE", required = true)]
    key_file: Option<PathBuf>,

    #[command(flatten)]
    circuit: CircuitOptions,

    /// Size of each data TCP buffer [default: grows as the path needs, to at most 6MiB]
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>)]
    buffer: Option<Bytes>,

    /// Limit on all buffers together, including the kernel's; beyond it buffers stop growing and new connections wait
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>, default_value = "1GB")]
    memory: Bytes,

    /// How long to wait for the other end to answer, and for the receiver to come back
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value = "30s")]
    connect_timeout: Dur,

    /// How long open connections may continue after a stop signal or the end of the command
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value = "30s")]
    drain: Dur,

    #[command(flatten)]
    reports: log::Reports,

    /// A command with its arguments; only its connections are carried
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Some(action) => action.run(NAME),
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
            "buffer_bytes": self.buffer.map(|buffer| buffer.0),
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
            wireless: Tuning { buffer: self.buffer, ..Tuning::default() },
            wired: Tuning::default(),
            own: Some(Box::new(circuit.data_tcp(tcp))),
            fast_open: false,
            limits: Limits { connections, ..limits },
        };
        Ok(Decoupling {
            receiver: self.receiver()?,
            prefixes: self.prefixes(),
            program: self.program(),
            key: key::read(self.key_file.as_deref().context("--key-file is missing")?)?,
            tcp: tcp.clone(),
            mark: self.circuit.mark,
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
                "--receiver is missing: only a --to with a single host implies the address of `airtcpd circuit receive`".into(),
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
