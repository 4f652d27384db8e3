//! What a scheme is on an unpatched kernel: a congestion control, sysctls of a network namespace, socket options, and
//! a station on a router.
//!
//! A scheme has such a form only if every key of its stack is accounted for: it is set, it is the kernel's own way
//! already, or the difference is so small that a note will do. If no kernel has a sender's key, airtcp's own machine
//! sends, behind a proxy. Anything else is a reason to refuse, and never silently ignored.

mod controllers;
mod host;
mod keys;
mod station;

pub use controllers::CongestionControl;
pub use host::Host;
pub use station::{Circuit, Onward, Proxy, ProxySite, Station};

use airtcp_kernel::rto::RtoRule;
use airtcp_proto::base_station::{BaseStation, split};
use airtcp_proto::circuit;
use airtcp_proto::scheme::Scheme;
use airtcp_proto::tcp::TcpConfig;
use airtcp_wire::Bytes;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What the connections of a scheme get. Flows with equal [`Settings`] share hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Form {
    #[serde(flatten)]
    pub congestion_control: CongestionControl,
    #[serde(flatten)]
    pub settings: Settings,
    /// SRTT + m·RTTVAR instead of the kernel's own timeout.
    #[serde(serialize_with = "in_words")]
    pub rto: Option<RtoRule>,
    pub socket: SocketOptions,
    /// What the base station does with the connections' packets.
    pub station: Option<Station>,
}

/// Settings of a host before the first connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Settings {
    /// Sysctls of its network namespace.
    pub sysctls: BTreeMap<String, String>,
    pub mtu_bytes: u32,
    /// Attributes of its route to the others.
    pub route: Route,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Route {
    /// Initial window in segments; `None` for the kernel's own.
    pub initcwnd: Option<u32>,
    /// Whether each segment is acknowledged at once.
    pub quickack: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SocketOptions {
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// SO_MAX_PACING_RATE without a limit, which makes the kernel pace with any controller.
    pub pacing: bool,
    /// The largest receive buffer.
    pub receive_buffer_bytes: u64,
    /// TCP_WINDOW_CLAMP with a buffer of fixed size, if the window is to be smaller than the kernel would make it.
    pub window_clamp_bytes: Option<u64>,
}

/// A scheme and its form here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemeForm {
    pub scheme: String,
    pub form: Option<Form>,
    /// Why there is no form.
    pub reason: Option<String>,
    /// How the form differs from what was asked for.
    pub notes: Vec<String>,
}

impl SchemeForm {
    /// The form of `scheme` on `host`.
    pub fn on(host: &Host, scheme: &Scheme) -> SchemeForm {
        let mut draft = Draft::of(&scheme.config, host);
        draft.stand(scheme);
        let reason = draft.reason();
        let Draft { form, notes, .. } = draft;
        SchemeForm { scheme: scheme.label.clone(), form: reason.is_none().then_some(form), reason, notes }
    }

    /// Adds that something in the scenario prevents the run.
    pub fn refuse(&mut self, problem: &str) {
        self.form = None;
        self.reason = Some(match self.reason.take() {
            Some(reason) => format!("{reason}; {problem}"),
            None => problem.to_owned(),
        });
    }
}

fn in_words<S: Serializer>(rule: &Option<RtoRule>, to: S) -> Result<S::Ok, S::Error> {
    match rule {
        Some(rule) => to.collect_str(rule),
        None => to.serialize_none(),
    }
}

/// Why a scheme has no form.
#[derive(Debug)]
struct Lack {
    why: String,
    /// Whether other kernels have what it takes.
    is_here: bool,
    /// Whether it concerns the sender alone.
    is_senders: bool,
}

impl Lack {
    /// A lack of every kernel.
    fn anywhere(why: impl Into<String>) -> Lack {
        Lack { why: why.into(), is_here: false, is_senders: false }
    }

    /// A lack of this kernel.
    fn here(why: impl Into<String>) -> Lack {
        Lack { is_here: true, ..Lack::anywhere(why) }
    }
}

/// A form in the making.
struct Draft<'a> {
    host: &'a Host,
    form: Form,
    notes: Vec<String>,
    lacks: Vec<Lack>,
}

/// Most bytes that wait at our own machine if no scheme sets this, as at a proxy.
const OWN_BUFFER: Bytes = Bytes(4 << 20);

impl Draft<'_> {
    /// The draft for a stack, with the kernel's TCP.
    fn of<'a>(config: &TcpConfig, host: &'a Host) -> Draft<'a> {
        let mut draft = Draft { host, form: keys::empty(), notes: Vec::new(), lacks: Vec::new() };
        keys::account(config, &mut draft);
        draft
    }

    fn lacks(&mut self, reason: impl Into<String>) {
        self.lacks.push(Lack::anywhere(reason));
    }

    fn lacks_here(&mut self, reason: impl Into<String>) {
        self.lacks.push(Lack::here(reason));
    }

    fn reason(&self) -> Option<String> {
        let is_here = self.lacks.iter().all(|lack| lack.is_here);
        let what = if is_here { "not on this kernel" } else { "no Linux form yet" };
        (!self.lacks.is_empty()).then(|| format!("{what}: {}", self.reasons()))
    }

    fn reasons(&self) -> String {
        let reasons: Vec<_> = self.lacks.iter().map(|lack| lack.why.as_str()).collect();
        reasons.join("; ")
    }

    /// Adds what stands between the hosts.
    fn stand(&mut self, scheme: &Scheme) {
        match (&scheme.circuit, &scheme.base_station) {
            (Some(circuit), None) => return self.decouple(scheme, circuit),
            (Some(_), Some(_)) => {
                self.lacks("a circuit and a base-station machine: only one of them can run")
            }
            (None, _) => {}
        }
        match scheme.base_station.as_ref().map(|station| (&station.machine, &station.tcp)) {
            Some((BaseStation::PacketControl(config), _)) => match station::packet_control(config) {
                Ok(station) => self.form.station = Some(station),
                Err(reason) => self.lacks(reason),
            },
            Some((BaseStation::Split(config), tcp)) => self.split(config, tcp),
            Some((BaseStation::DelayJitter(_), _)) => {
                self.lacks("`delay-jitter` runs only in the simulator and in `airtcpd link --base-station`")
            }
            Some((other, _)) => {
                let name = other.spec().name;
                self.lacks(format!("the base-station machine `{name}` runs only in the simulator"));
            }
            None if self.own_machine_will_do() => self.send_behind(&scheme.config),
            None => {}
        }
    }

    /// Returns whether all lacks are the sender's, and every kernel's.
    fn own_machine_will_do(&self) -> bool {
        !self.lacks.is_empty() && self.lacks.iter().all(|lack| lack.is_senders && !lack.is_here)
    }

    /// A reliable decoupling socket (paper 000 §6): the sender's kernel passes its data to our own data TCP.
    fn decouple(&mut self, scheme: &Scheme, circuit: &circuit::Config) {
        let data_tcp = circuit.data_tcp(&scheme.config);
        *self = Draft::of(&keys::with_kernels_sender(&data_tcp), self.host);
        self.notes.push("airtcp's own data TCP and circuit send, behind the sender's kernel".to_owned());
        let through = Circuit { config: circuit.clone(), tcp: Box::new(scheme.config.clone()) };
        let onward = Onward::Own(Box::new(data_tcp));
        let buffer_bytes = OWN_BUFFER.0;
        let proxy = Proxy { place: ProxySite::Sender, onward, buffer_bytes, circuit: Some(through) };
        self.form.station = Some(Station::Proxy(proxy));
    }

    /// Our own machine sends, behind the sender's kernel.
    fn send_behind(&mut self, config: &TcpConfig) {
        let why = self.reasons();
        *self = Draft::of(&keys::with_kernels_sender(config), self.host);
        self.notes.push(format!("airtcp's own TCP sends, behind the sender's kernel: {why}"));
        let onward = Onward::Own(Box::new(config.clone()));
        let proxy = Proxy { place: ProxySite::Sender, onward, buffer_bytes: OWN_BUFFER.0, circuit: None };
        self.form.station = Some(Station::Proxy(proxy));
    }

    /// Connections end at the base station. Behind it `tcp` is used, by the kernel if it can.
    fn split(&mut self, config: &split::Config, tcp: &TcpConfig) {
        let onward = Draft::of(tcp, self.host);
        if self.own_machine_will_do() {
            self.notes.push(format!("the fixed hosts' TCP is the kernel's: {}", self.reasons()));
            self.lacks.clear();
            if self.form.congestion_control.name.is_empty() {
                self.form.congestion_control = CongestionControl::reno();
            }
        }
        let is_kernels = onward.lacks.is_empty()
            && onward.form.settings == self.form.settings
            && onward.form.rto.is_none()
            && !onward.form.socket.pacing;
        let onward = match is_kernels {
            true => Onward::Kernel(onward.form.congestion_control),
            false => {
                self.notes.push("airtcp's own TCP sends at the base station".to_owned());
                let receive_window = Bytes(tcp.receive_window.0.min(config.buffer.0));
                Onward::Own(Box::new(TcpConfig { receive_window, ..tcp.clone() }))
            }
        };
        let buffer_bytes = config.buffer.0;
        let proxy = Proxy { place: ProxySite::BaseStation, onward, buffer_bytes, circuit: None };
        self.form.station = Some(Station::Proxy(proxy));
    }
}
