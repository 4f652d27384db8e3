//! The project's own TCP, in virtual time.

use crate::log::Emitted;
use crate::script::Setup;
use crate::stack::{Call, Quantity, Stack};
use airtcp_proto::tcp::{Connection, State, TcpConfig, profile};
use airtcp_wire::{Bytes, Dur, Ecn, Segment, Seq, Time};

/// Makes sequence numbers wrap within the first few segments.
const ISS: Seq = Seq(u32::MAX - 4500);

const SEED: u64 = 1;

/// Linux's maximum receive buffer with plenty of memory, in bytes; it gives a window scale of 7.
const RECEIVE_WINDOW: u32 = 6 << 20;

/// A [`Connection`] of profile `linux`.
pub struct Machine {
    config: TcpConfig,
    connection: Option<Connection>,
    now: Time,
}

impl Machine {
    pub fn new(setup: &Setup) -> Machine {
        Machine { config: config(setup), connection: None, now: Time::ZERO }
    }

    fn open(&mut self, call: Call) -> Result<(), String> {
        let opened = match call {
            Call::Connect => Connection::connect(&self.config, ISS, SEED, self.now),
            _ => Connection::listen(&self.config, ISS, SEED),
        };
        self.connection = Some(opened.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn connection(&mut self) -> Result<&mut Connection, String> {
        self.connection.as_mut().ok_or_else(|| "there is no connection".to_owned())
    }
}

fn config(setup: &Setup) -> TcpConfig {
    let linux = profile::linux();
    TcpConfig {
        congestion_control: setup.congestion_control.clone(),
        sack: setup.sack,
        timestamps: setup.timestamps,
        window_scaling: setup.window_scaling,
        ecn: setup.ecn,
        nagle: setup.nagle,
        packet_size: u32::from(setup.mtu),
        initial_window: setup.initial_window.unwrap_or(linux.initial_window),
        receive_window: Bytes(setup.receive_window.unwrap_or(RECEIVE_WINDOW).into()),
        max_retries: setup.max_retries.unwrap_or(linux.max_retries),
        ..linux
    }
}

impl Stack for Machine {
    /// The machine's timers are exact, but scripts round to whole milliseconds.
    fn lateness_after(&self, _: Dur) -> Dur {
        Dur::from_millis(1)
    }

    fn wait(&mut self, until: Time) -> Option<Emitted> {
        let connection = self.connection.as_mut()?;
        loop {
            if let Some(transmit) = connection.poll_transmit(self.now) {
                return Some(Emitted { at: self.now, segment: transmit.segment, ecn: transmit.ecn });
            }
            let next = connection.poll_timeout();
            if next > until {
                self.now = self.now.max(until);
                return None;
            }
            self.now = self.now.max(next);
            connection.handle_timeout(self.now);
        }
    }

    fn inject(&mut self, segment: &Segment, ecn: Ecn) {
        if let Some(connection) = &mut self.connection {
            connection.handle_segment(self.now, segment, ecn);
        }
    }

    fn call(&mut self, call: Call) -> Result<(), String> {
        if matches!(call, Call::Connect | Call::Listen) {
            return self.open(call);
        }
        let connection = self.connection()?;
        match call {
            Call::Accept if !matches!(connection.state(), State::Established | State::CloseWait) => {
                return Err(format!("nothing to accept: {:?}", connection.state()));
            }
            Call::Read(bytes) if connection.readable() < bytes => {
                return Err(format!("{} bytes are readable", connection.readable()));
            }
            Call::Connect | Call::Listen | Call::Accept => {}
            Call::Write(bytes) => connection.write(bytes),
            Call::Read(bytes) => connection.read(bytes),
            Call::Shutdown => connection.shutdown(),
            Call::Close => connection.close(),
            Call::Abort => connection.abort(),
        }
        Ok(())
    }

    fn observe(&mut self, quantity: Quantity) -> Result<String, String> {
        let connection = self.connection()?;
        let view = connection.sender_view();
        let ms = |dur: Dur| format!("{:.1}", dur.as_secs_f64() * 1e3);
        Ok(match quantity {
            Quantity::Cwnd => (view.cwnd / view.mss).to_string(),
            Quantity::Ssthresh if view.ssthresh > u64::from(u32::MAX) => "none".to_owned(),
            Quantity::Ssthresh => (view.ssthresh / view.mss).to_string(),
            Quantity::Srtt => ms(view.srtt),
            Quantity::Rto => ms(view.rto),
            Quantity::State => state(connection.state()).to_owned(),
            Quantity::Readable => connection.readable().to_string(),
        })
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Closed => "closed",
        State::Listen => "listen",
        State::SynSent => "syn-sent",
        State::SynReceived => "syn-received",
        State::Established => "established",
        State::FinWait1 => "fin-wait-1",
        State::FinWait2 => "fin-wait-2",
        State::CloseWait => "close-wait",
        State::Closing => "closing",
        State::LastAck => "last-ack",
        State::TimeWait => "time-wait",
    }
}
