//! `airtcpd rto`.

use airtcp_kernel::rto::{self, Installed, RtoRule, Timer};
use airtcp_live::say;
use airtcp_wire::{Dur, human};
use anyhow::Context;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  airtcpd rto --factor 10 --cgroup /sys/fs/cgroup/lte
      RTO = SRTT + 10·RTTVAR, from 1s to 120s, for connections that programs in that cgroup make or accept from now on
  airtcpd rto --factor 10 --min 2s --max 60s --linear --cgroup /sys/fs/cgroup/lte
      from 2s to 60s, without doubling at each expiry
  airtcpd rto --floor 50ms --cgroup /sys/fs/cgroup/data
      RTO = SRTT + max(50ms, 4·RTTVAR), at most 1s
  airtcpd rto --factor 10 --mark 0x42000000 --cgroup /sys/fs/cgroup/system.slice/airtcpd-proxy.service
      only for the wireless side of the proxy
  airtcpd rto status
  airtcpd rto off

The rule outlives this command, until `off` or a reboot. A program is in a cgroup if it was started there, or if its PID was
written to cgroup.procs before it made its sockets. A server that is already listening keeps the kernel's timer, except for a --floor
up to 200ms: restart it. `status` counts such connections.

SRTT and RTTVAR are those of RFC 6298 with one sample per round trip; `ss -ti` shows the resulting RTO.
While a factor is in force, net.ipv4.tcp_rto_min_us of this network namespace is --max, so that a connection's longest RTO
decides, tcp_orphan_retries is 8, so that data written before a close is not dropped at the second timeout, and no RTTs
are cached. The rule therefore reaches only connections of this namespace, as does a --floor above 200ms: for a container, run
it inside (`nsenter --net=/proc/PID/ns/net airtcpd rto …`). A second program gives connections outside the cgroup the
RTO_MIN that they would have had; it misses a socket that is made before `off` and connects after it. At `off`, servers of
listening servers of the namespace get the kernel's timer back. Open connections keep the floor, or the longest RTO that a factor
gave them last, with TCP_USER_TIMEOUT as below.

The kernel also uses the longest RTO to decide when to give up. Where --max is below 120s, and with --linear and --floor, a
connection has TCP_USER_TIMEOUT = 924.6 s, which is the stock timer's, while its retransmissions go unanswered, unless its
program has set one. That does not help a connection whose peer has closed its window: the kernel gives up after 15 unanswered
probes, no further apart than the longest RTO, i.e. after 15 s if that is 1s.

The kernel accepts 1s to 120s as a connection's longest RTO. So --factor cannot go below 1s, and --floor, the nearest to
paper 000's timer (F3), still backs off: the RTO stays undoubled for the first six expiries only where fewer than
four segments are out and the congestion control is not bbr; else it is, up to 1s. Measured with 50ms in an outage, ms
between retransmissions: one segment out 65 68 68 67 71 72 67 135 285 538, a window out 66 131 291 544 1020.";

const STATUS_EXAMPLES: &str = "\
Examples:
  airtcpd rto status
  airtcpd rto status --json";

const OFF_EXAMPLES: &str = "\
Examples:
  airtcpd rto off
  airtcpd rto status
      reports that no rule is installed";

/// Set RTO = SRTT + m·RTTVAR for the connections of a cgroup
#[derive(clap::Args)]
#[command(after_help = HELP, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(group(clap::ArgGroup::new("timer").args(["factor", "floor"]).required(true)))]
pub struct Options {
    #[command(subcommand)]
    action: Option<Action>,

    /// m of RTO = SRTT + m·RTTVAR; TCP has 4, paper 003 advises 10
    #[arg(long, value_name = "M")]
    factor: Option<f64>,

    /// Minimum added to SRTT: RTO = SRTT + max(FLOOR, 4·RTTVAR). From 8ms to --max; above 200ms, for the whole
    /// network namespace
    #[arg(long, value_parser = human::parse::<Dur>)]
    floor: Option<Dur>,

    /// A cgroup of version 2
    #[arg(long, value_name = "PATH", required = true)]
    cgroup: Option<PathBuf>,

    /// The shortest RTO, from 1s to --max [default: 1s]
    #[arg(long, value_parser = human::parse::<Dur>, conflicts_with = "floor")]
    min: Option<Dur>,

    /// The longest RTO, from 1s to 120s [default: 120s; with --floor: 1s]
    #[arg(long, value_parser = human::parse::<Dur>)]
    max: Option<Dur>,

    /// Only for sockets with this SO_MARK and the connections they accept; 0x42000000 is the wireless side of `airtcpd proxy`
    #[arg(long, value_parser = mark)]
    mark: Option<u32>,

    /// Do not double the RTO at each expiry
    #[arg(long, conflicts_with = "floor")]
    linear: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show the installed rule and its effect
    #[command(after_help = STATUS_EXAMPLES)]
    Status {
        /// Print it as JSON; `null` if there is none
        #[arg(long)]
        json: bool,
    },
    /// Remove the rule and restore the sysctls; open connections keep the floor, or the longest RTO last given to them
    #[command(after_help = OFF_EXAMPLES)]
    Off,
}

pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Some(Action::Status { json }) => status(json)?,
        Some(Action::Off) => off()?,
        None => on(&options)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn on(options: &Options) -> anyhow::Result<()> {
    let cgroup = options.cgroup.as_deref().context("--cgroup is missing")?;
    let installed = rto::install(cgroup, &options.rule()?)?;
    show(&installed);
    line("undo", "airtcpd rto off");
    Ok(())
}

impl Options {
    fn rule(&self) -> anyhow::Result<RtoRule> {
        let mut rule = match (self.factor, self.floor) {
            (Some(factor), _) => RtoRule { backoff: !self.linear, ..RtoRule::factor(factor) },
            (None, Some(floor)) => RtoRule::floor(floor),
            (None, None) => anyhow::bail!("--factor or --floor is missing"),
        };
        if let (Timer::Factor { min, .. }, Some(wanted)) = (&mut rule.timer, self.min) {
            *min = wanted;
        }
        rule.max = self.max.unwrap_or(rule.max);
        rule.mark = self.mark;
        Ok(rule)
    }
}

fn mark(text: &str) -> Result<u32, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number
        .ok()
        .filter(|&mark| mark > 0)
        .ok_or_else(|| "write a number above 0, for example 0x42000000".to_owned())
}

fn status(as_json: bool) -> anyhow::Result<()> {
    let installed = rto::installed()?;
    match installed {
        Some(installed) if as_json => say!("{:#}", document(&installed)),
        Some(installed) => show(&installed),
        None if as_json => say!("null"),
        None => say!("no rule is installed"),
    }
    Ok(())
}

fn off() -> anyhow::Result<()> {
    let Some(undone) = rto::uninstall()? else {
        say!("no rule is installed");
        return Ok(());
    };
    say!("removed; open connections keep the floor, or the longest RTO last given to them");
    undone.iter().for_each(|what| line("sysctl", what));
    Ok(())
}

fn show(installed: &Installed) {
    let record = &installed.record;
    say!("{}", record.rule);
    let only = if record.sysctls.is_empty() { "" } else { ", of the same network namespace" };
    line("for", &format!("connections made from now on in {} and below it{only}", record.cgroup.display()));
    for sysctl in &record.sysctls {
        let rto::Sysctl { name, before, now } = sysctl;
        line(
            "sysctl",
            &format!("{name} = {now} (was {before}) in network namespace net:[{}]", record.namespace.inode()),
        );
    }
    if installed.is_guarded {
        line("others", "other connections and listeners in that namespace get the RTO_MIN they had");
    }
    match installed.counters {
        Some(rto::Counters { connections, timeouts, refused, foreign, early }) => {
            line("so far", &format!("{connections} connections, {timeouts} timeouts"));
            if refused > 0 {
                line("refused", &format!("the kernel would not set {refused} socket options"));
            }
            if foreign > 0 {
                line("not so", &foreign_text(foreign));
            }
            if early > 0 {
                line("not so", &early_text(early));
            }
        }
        None => line("broken", "the process that installed it was killed; `airtcpd rto off` cleans up"),
    }
}

fn foreign_text(connections: u64) -> String {
    format!(
        "{connections} connections of the cgroup in other network namespaces, which the rule cannot reach: take it back and \
         install it there (`nsenter --net=… airtcpd rto …`)"
    )
}

fn early_text(connections: u64) -> String {
    format!(
        "{connections} connections of sockets that were made before the rule, most of them accepted by servers that listened \
         already: restart the server"
    )
}

fn line(what: &str, text: &str) {
    say!("  {what:<9}{text}");
}

fn document(installed: &Installed) -> serde_json::Value {
    let Installed { record, counters, is_guarded } = installed;
    let sysctl =
        |rto::Sysctl { name, before, now }: &rto::Sysctl| json!({"name": name, "before": before, "now": now});
    json!({
        "rule": record.rule,
        "cgroup": record.cgroup,
        "namespace": record.namespace.inode(),
        "sysctls": record.sysctls.iter().map(sysctl).collect::<Vec<_>>(),
        "guarded": is_guarded,
        "connections": counters.map(|counters| counters.connections),
        "timeouts": counters.map(|counters| counters.timeouts),
        "refused": counters.map(|counters| counters.refused),
        "foreign": counters.map(|counters| counters.foreign),
        "early": counters.map(|counters| counters.early),
    })
}
