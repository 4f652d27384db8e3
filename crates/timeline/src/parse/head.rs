//! The lines above the first time: title, setup, and the stacks for which the timeline holds.

use super::words::{Words, switch};
use crate::script::{Backend, Setup, Step, Timeline};
use airtcp_wire::Dur;

#[derive(Default)]
pub struct Head {
    title: Vec<String>,
    pub setup: Setup,
    pub opening: Option<Opening>,
    holds_for: Option<Vec<Backend>>,
    why: Option<String>,
}

/// The opening handshake.
#[derive(Clone, Copy)]
pub struct Opening {
    /// The stack connects; otherwise the peer does.
    pub is_active: bool,
    pub rtt: Dur,
}

impl Head {
    pub fn add_title(&mut self, line: &str) {
        self.title.push(line.to_owned());
    }

    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let setup = &mut self.setup;
        match key {
            "open" => self.opening = Some(opening(value)?),
            "holds for" => self.holds_for = Some(backends(value)?),
            "why" => self.why = Some(value.to_owned()),
            "cc" => setup.congestion_control = value.to_owned(),
            "sack" => setup.sack = switch(value)?,
            "timestamps" => setup.timestamps = switch(value)?,
            "window scaling" => setup.window_scaling = switch(value)?,
            "ecn" => setup.ecn = switch(value)?,
            "nagle" => setup.nagle = switch(value)?,
            "push" => setup.judges_push = value == "judged",
            "mtu" => setup.mtu = number(value)?,
            "initial window" => setup.initial_window = Some(number(value)?),
            "receive window" => setup.receive_window = Some(number(value)?),
            "max retries" => setup.max_retries = Some(number(value)?),
            "peer" => peer(setup, value)?,
            _ => return Err(format!("\"{key}\" is no key")),
        }
        Ok(())
    }

    pub fn finish(self, steps: Vec<Step>) -> Result<Timeline, String> {
        let holds_for = self.holds_for.unwrap_or_else(|| vec![Backend::Machine, Backend::Kernel]);
        if self.title.is_empty() {
            return Err("no title: the first line says after a # what is proven, and the clause".to_owned());
        }
        if holds_for.len() < 2 && self.why.is_none() {
            return Err("it holds for one alone: why?".to_owned());
        }
        Ok(Timeline { title: self.title.join(" "), setup: self.setup, holds_for, why: self.why, steps })
    }
}

/// Parses `connect` or `accept`, with `rtt` if it is not 100 ms.
fn opening(value: &str) -> Result<Opening, String> {
    let mut words = Words::of(value);
    let is_active = match words.next("connect or accept")? {
        "connect" => true,
        "accept" => false,
        other => return Err(format!("\"{other}\" is neither connect nor accept")),
    };
    let rtt = match words.maybe() {
        Some("rtt") => words.milliseconds("the RTT")?,
        Some(other) => return Err(format!("\"{other}\" is not rtt")),
        None => Dur::from_millis(100),
    };
    words.end()?;
    Ok(Opening { is_active, rtt })
}

fn backends(value: &str) -> Result<Vec<Backend>, String> {
    let mut words = Words::of(value);
    let names = std::iter::from_fn(|| words.maybe());
    names
        .map(|name| match name {
            "machine" => Ok(Backend::Machine),
            "kernel" => Ok(Backend::Kernel),
            other => Err(format!("\"{other}\" is neither machine nor kernel")),
        })
        .collect()
}

/// Parses changes to the peer's SYN and window: `no sack, no ts, ws 3, mss 536, win 20000`.
fn peer(setup: &mut Setup, value: &str) -> Result<(), String> {
    let mut words = Words::of(value);
    while let Some(word) = words.maybe() {
        match word {
            "no" => match words.next("an option")? {
                "sack" => setup.peer.sack_permitted = false,
                "ts" => setup.peer_timestamps = false,
                "ws" => setup.peer.window_scale = None,
                other => return Err(format!("\"{other}\" is none of sack, ts, ws")),
            },
            "mss" => setup.peer.mss = Some(words.number("the MSS")?),
            "ws" => setup.peer.window_scale = Some(words.number("the shift")?),
            "win" => setup.peer_window = words.number("bytes of window")?,
            other => return Err(format!("\"{other}\" is none of no, mss, ws, win")),
        }
    }
    Ok(())
}

fn number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("\"{value}\" is no number, or too large"))
}
