//! What a scheme is on an unpatched kernel: a congestion control, sysctls of a network namespace, options of sockets.
//!
//! A scheme has such a form only if every key of its stack is accounted for: set, the kernel's own way already, or a
//! difference so small that a note will do. What is left is a reason, and never silently ignored.

mod controllers;
mod host;
mod keys;
mod station;

pub use controllers::CongestionControl;
pub use host::Host;
pub use station::Station;

use airtcp_kernel::rto::RtoRule;
use airtcp_proto::scheme::Scheme;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What the connections of a scheme get. Hosts with equal [`Settings`] are one.
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

/// What a host is set to before the first connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Settings {
    /// Of its network namespace.
    pub sysctls: BTreeMap<String, String>,
    pub mtu_bytes: u32,
    /// Attributes of its route to the others.
    pub route: Route,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Route {
    /// Initial window in segments, where it is not the kernel's own.
    pub initcwnd: Option<u32>,
    /// Each segment is acknowledged at once.
    pub quickack: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SocketOptions {
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// SO_MAX_PACING_RATE without a limit, with which the kernel paces whatever the controller.
    pub pacing: bool,
    /// The largest receive buffer.
    pub receive_buffer_bytes: u64,
    /// TCP_WINDOW_CLAMP with a buffer of fixed size, where the window is to be less than the kernel would make it.
    pub window_clamp_bytes: Option<u64>,
}

/// A scheme and what it is here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    pub scheme: String,
    pub form: Option<Form>,
    /// Why there is no form.
    pub reason: Option<String>,
    /// How the form differs from what was asked for.
    pub notes: Vec<String>,
}

impl Verdict {
    /// Of `scheme` on `host`.
    pub fn on(host: &Host, scheme: &Scheme) -> Verdict {
        let mut draft = Draft::new(host);
        draft.parts(scheme);
        keys::account(&scheme.config, &mut draft);
        let reason = draft.reason();
        let Draft { form, station, notes, .. } = draft;
        let form = form.filter(|_| reason.is_none()).map(|form| Form { station, ..form });
        Verdict { scheme: scheme.label.clone(), form, reason, notes }
    }

    /// Something of the scenario stands in the way.
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
enum Lack {
    /// On any kernel.
    Anywhere(String),
    /// On this one: others have what it takes.
    Here(String),
}

/// A form in the making.
struct Draft<'a> {
    host: &'a Host,
    form: Option<Form>,
    station: Option<Station>,
    notes: Vec<String>,
    lacks: Vec<Lack>,
}

impl Draft<'_> {
    fn new(host: &Host) -> Draft<'_> {
        Draft { host, form: None, station: None, notes: Vec::new(), lacks: Vec::new() }
    }

    fn lacks(&mut self, reason: impl Into<String>) {
        self.lacks.push(Lack::Anywhere(reason.into()));
    }

    fn lacks_here(&mut self, reason: impl Into<String>) {
        self.lacks.push(Lack::Here(reason.into()));
    }

    fn reason(&self) -> Option<String> {
        let is_here = self.lacks.iter().all(|lack| matches!(lack, Lack::Here(_)));
        let reasons: Vec<_> =
            self.lacks.iter().map(|(Lack::Anywhere(why) | Lack::Here(why))| why.as_str()).collect();
        let what = if is_here { "not on this kernel" } else { "no Linux form yet" };
        (!reasons.is_empty()).then(|| format!("{what}: {}", reasons.join("; ")))
    }

    fn parts(&mut self, scheme: &Scheme) {
        if let Some(station) = &scheme.base_station {
            match Station::of(&station.machine) {
                Ok(station) => self.station = Some(station),
                Err(reason) => self.lacks(reason),
            }
        }
        if scheme.circuit.is_some() {
            self.lacks("TCP circuits run in the simulator alone");
        }
    }
}
