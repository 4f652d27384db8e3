//! `airtcpd proxy run`.

use crate::input::BadInput;
use crate::log;
use crate::sender_scheme;
use airtcp_live::daemon;
use airtcp_live::namespace::leftovers;
use airtcp_live::proxy::{Config, Entrance, Limits, Service, Side, Tuning, allow_files};
use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::profile;
use airtcp_wire::Dur;
use airtcp_wire::human::{self, Bytes};
use clap::{ArgGroup, ValueEnum};
use serde_json::json;
use std::net::SocketAddr;
use std::process::{self, ExitCode};

const EXAMPLES: &str = "\
Examples:
  airtcpd proxy run --wireless wlan0
      takes TCP connections that enter or leave by wlan0, except this host's own
  airtcpd proxy run --wireless wlan0 --ports 80,443 --wireless-cc bbr --memory 256MB
  airtcpd proxy run --wireless wlan0 --wireless-stack own --wireless-scheme rto-m:m=10+gbn
      go-back-N and RTO = SRTT + 10·RTTVAR towards the mobile hosts, by airtcp's own TCP
  airtcpd proxy run --wireless wlan0 --wireless-stack own --wireless-scheme newreno:profile=rfc+rto-m:m=2:rto.min=100ms+gbn
      RTO = SRTT + 2·RTTVAR, at least 100 ms; all that is outstanding is resent, even after a spurious timeout
  airtcpd proxy run --listen [::]:8080 --to [2001:db8::7]:80 --metrics 127.0.0.1:9464
      without packet rules: the server sees the proxy's address

Without --listen it needs nft (nftables) and root. It takes only connections that begin from now on. Where a firewall drops
incoming packets for this host, admit those marked by the proxy, for example
  nft insert rule inet fw4 input meta mark 0x41000000 accept

Each end learns what happened to the other: a FIN is passed on as a FIN, and the other
direction continues; if one end resets, vanishes or could not be reached, the other gets a RST. A client is answered before
its server is. With --wireless-stack own, all TCP from IFACE for other hosts passes through this process, IPv4 forwarding must be on there,
and net.ipv4.tcp_early_demux is 0 meanwhile. Urgent data is passed on as ordinary data.

SIGTERM, SIGINT or SIGHUP stops it: new connections bypass it, open ones may continue for --drain. A second signal stops
it at once, with a RST to all.";

/// Default of --connections.
const MOST_CONNECTIONS: usize = 10_000;

/// Run a proxy until a signal ends it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("entrance").args(["wireless", "listen"]).required(true)))]
pub struct Options {
    /// Interface facing the mobile hosts; the proxy is transparent there
    #[arg(long, value_name = "IFACE", value_parser = interface)]
    wireless: Option<String>,

    /// Take only connections to these ports, for example 80,443 [default: all]
    #[arg(long, value_name = "PORTS", value_delimiter = ',', requires = "wireless")]
    ports: Vec<u16>,

    /// Listen for connections at this address instead
    #[arg(long, value_name = "ADDRESS", requires = "to")]
    listen: Option<SocketAddr>,

    /// Forward those connections to this address
    #[arg(long, value_name = "ADDRESS", requires = "listen")]
    to: Option<SocketAddr>,

    /// The side from which clients connect to --listen
    #[arg(long, value_enum, default_value_t = Clients::Wired, requires = "listen")]
    clients: Clients,

    /// Congestion control towards the mobile hosts, from the kernel or `airtcpd cc` [default: the kernel's]
    #[arg(long, value_name = "NAME")]
    wireless_cc: Option<String>,

    /// TCP stack towards the mobile hosts: the kernel's, or airtcp's own. The latter copies data that the kernel
    /// would only pass on: some 1 Gbit/s instead of 10
    #[arg(long, value_enum, default_value_t = WirelessStack::Kernel, requires = "wireless")]
    wireless_stack: WirelessStack,

    /// Scheme of airtcp's own stack: any sender scheme listed by `airtcp schemes`, for example rto-m:m=10+gbn [default: cubic]
    #[arg(long, value_name = "SCHEME", value_parser = scheme)]
    wireless_scheme: Option<Scheme>,

    /// Open connections on the wireless side fast (RFC 7413): to a host that has granted a cookie, a client's first words go with
    /// the SYN, which saves a round trip. The other end is a second proxy with this option, or a server that does so itself
    #[arg(long, requires = "wireless")]
    fast_open: bool,

    /// Congestion control on the wired side [default: the kernel's]
    #[arg(long, value_name = "NAME")]
    wired_cc: Option<String>,

    /// Size of each buffer of a wireless connection [default: grows as the path needs, set by the kernel; to at most 6MiB
    /// with --wireless-stack own]
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>)]
    wireless_buffer: Option<Bytes>,

    /// Size of each buffer of a wired connection [default: set by the kernel]
    #[arg(long, value_name = "SIZE", value_parser = human::parse::<Bytes>)]
    wired_buffer: Option<Bytes>,

    /// Probe an end after this much silence [default: the kernel's, two hours]
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>)]
    keepalive: Option<Dur>,

    /// Limit on all buffers together, including the kernel's; beyond it buffers stop growing and new connections wait
    #[arg(long, value_name = "SIZE", value_parser = memory, default_value = "1GB")]
    memory: Bytes,

    /// Maximum concurrent connections; others wait [default: 10000, or as many as the open-file limit allows]
    #[arg(long, value_name = "COUNT", value_parser = count)]
    connections: Option<usize>,

    /// Maximum connections whose server has not yet answered; the oldest makes room for new ones. With --wireless-stack own, also
    /// the maximum of handshakes that clients have begun; further ones are answered with SYN cookies
    #[arg(long, value_name = "COUNT", default_value_t = 1_000, value_parser = count)]
    connecting: usize,

    /// How long to wait for a server to answer
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value = "30s")]
    connect_timeout: Dur,

    /// How long open connections may continue after a stop signal
    #[arg(long, value_name = "TIME", value_parser = human::parse::<Dur>, default_value = "30s")]
    drain: Dur,

    #[command(flatten)]
    reports: log::Reports,

    /// Also log a line for each connection
    #[arg(long)]
    verbose: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Clients {
    Wireless,
    Wired,
}

pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    leftovers::clean_up();
    log::begin(options.reports.log, options.verbose);
    let own = options.own()?;
    let config = options.config(own.as_ref())?;
    let wireless = match &own {
        None => config.wireless.to_string(),
        Some(scheme) => format!("airtcp's own machine, {}", scheme.label),
    };
    let about = json!({
        "pid": process::id(),
        "proxy": config.entrance.to_string(),
        "wireless": wireless,
        "wired": config.wired.to_string(),
        "memory_bytes": config.limits.memory.0,
        "connections": config.limits.connections,
        "connecting": config.limits.connecting,
    });
    tracing::info!(wireless, wired = %config.wired, "{}", config.entrance);
    daemon::run(&Service::new(config), options.reports.metrics.as_ref(), about)
}

impl Options {
    /// The scheme of airtcp's own stack, if that serves the wireless side.
    fn own(&self) -> Result<Option<Scheme>, BadInput> {
        let refused = |why: &str| Err(BadInput(why.to_owned()));
        match self.wireless_stack {
            WirelessStack::Own if self.wireless_cc.is_some() => refused(
                "--wireless-cc applies to the kernel's stack; with --wireless-stack own use --wireless-scheme",
            ),
            WirelessStack::Own => match &self.wireless_scheme {
                Some(given) => Ok(Some(given.clone())),
                None => scheme("cubic").map(Some).map_err(BadInput),
            },
            WirelessStack::Kernel if self.fast_open => {
                refused("--fast-open is an option of airtcp's own stack: add --wireless-stack own")
            }
            WirelessStack::Kernel if self.wireless_scheme.is_some() => refused(
                "--wireless-scheme applies to airtcp's own stack: add --wireless-stack own, or use --wireless-cc",
            ),
            WirelessStack::Kernel => Ok(None),
        }
    }

    fn config(&self, own: Option<&Scheme>) -> anyhow::Result<Config> {
        let entrance = match (&self.wireless, self.listen.zip(self.to)) {
            (_, Some((listen, to))) => Entrance::Fixed { listen, to, clients: self.clients.into() },
            (wireless, None) => {
                let wireless = wireless.clone().unwrap_or_default();
                Entrance::Transparent { wireless, ports: self.ports.clone() }
            }
        };
        let tuning = |congestion_control: &Option<String>, buffer| Tuning {
            congestion_control: congestion_control.clone(),
            buffer,
            keepalive: self.keepalive,
        };
        Ok(Config {
            entrance,
            own: own.map(|scheme| Box::new(scheme.config.clone())),
            fast_open: self.fast_open,
            wireless: tuning(&self.wireless_cc, self.wireless_buffer),
            wired: tuning(&self.wired_cc, self.wired_buffer),
            limits: Limits {
                memory: self.memory,
                connections: self.connections()?,
                connecting: self.connecting,
                connect_timeout: self.connect_timeout,
                drain: self.drain,
            },
        })
    }

    fn connections(&self) -> anyhow::Result<usize> {
        let allowed = allow_files(self.connections.unwrap_or(MOST_CONNECTIONS))?;
        match self.connections {
            Some(wanted) if allowed < wanted => anyhow::bail!(
                "--connections {wanted} exceeds the open-file limit: raise `ulimit -Hn`, or use at most {allowed}"
            ),
            _ => Ok(allowed),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WirelessStack {
    Kernel,
    Own,
}

fn scheme(text: &str) -> Result<Scheme, String> {
    let mut scheme = sender_scheme::read(text, "the proxy", "it is itself the split")?;
    // Unless it is given, the proxy's memory takes the place of a host's send buffer.
    scheme.config.send_buffer.take_if(|buffer| Some(*buffer) == profile::linux().send_buffer);
    Ok(scheme)
}

impl From<Clients> for Side {
    fn from(clients: Clients) -> Side {
        match clients {
            Clients::Wireless => Side::Wireless,
            Clients::Wired => Side::Wired,
        }
    }
}

/// The name becomes part of an nft rule.
fn interface(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@:".contains(c);
    match (1..=15).contains(&text.len()) && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("an interface name has 1 to 15 letters, digits, or . _ - @ :".to_owned()),
    }
}

fn memory(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = human::parse(text).map_err(|error| error.to_string())?;
    match bytes.0 >= 1_000_000 {
        true => Ok(bytes),
        false => Err("must be at least 1MB, enough for one connection".to_owned()),
    }
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1_000_000) => Ok(count),
        _ => Err("from 1 to 1000000".to_owned()),
    }
}
