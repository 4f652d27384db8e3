//! Runs the emulator in real time.
//!
//! A turn reads what is waiting at the devices, sends what is due, and waits for the next event. The kernel wakes a
//! process some time after the requested time. So a packet enters the path when the kernel received it ([`Inbox`]),
//! not when the driver fetches it. The driver asks to be woken [`SPIN`] before the next departure, and turns without
//! waiting until then. What leaves late nevertheless is counted.

use super::clock::{Clock, Look};
use super::emulator::Emulator;
use super::inbox::Inbox;
use super::lateness::{Lateness, LatenessRecord};
use super::observer::Observer;
use crate::tun::PacketDevice;
use airtcp_wire::units::NANOS_PER_SEC;
use airtcp_wire::{Dur, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use serde::Serialize;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long before a departure the driver stops sleeping. Measured at 770 probes a second over a path of 1 ms, on two cores
/// with twelve other processes that wanted to run, with real-time priority:
///
/// | stops before | late, median | late, 99th percentile | RTT, median |
/// |---|---|---|---|
/// | 0 | 24–34 µs | 73–101 µs | 1.07–1.10 ms |
/// | 30 µs | 0.7–3.6 µs | 24–980 µs | 1.02–1.03 ms |
/// | 80 µs | 0.6–0.7 µs | 5–25 µs | 1.02 ms |
/// | 150 µs | 0.5–0.6 µs | 3–42 µs | 1.01–1.02 ms |
///
/// From 80 µs on, the median is the loop's own. Longer spinning would occupy a processor already if packets leave
/// every 150 µs.
pub const SPIN: Dur = Dur::from_micros(80);

/// The driver's longest sleep, so that it notices when it was kept from running, and when it is to stop.
const TICK: Dur = Dur::from_millis(20);

/// The driver counts as absent if it comes back this much later than intended.
const AWAY: Dur = Dur::from_millis(1);

/// In each period of this length, the driver sleeps for at least [`REST`]. From 12 000 packets a second on, something
/// is always due within [`SPIN`], and a real-time thread that never sleeps starves the fair tasks of its processor.
/// Once a second, the kernel then takes the processor away for up to 50 ms in one piece (the fair deadline server, or
/// real-time throttling). Measured at
/// 40 000 to 95 000 packets a second over 0.5 ms, on two cores:
///
/// | rests | one way, median | 99th percentile | longest absence |
/// |---|---|---|---|
/// | none | 0.52 ms | 35 ms | 41–43 ms |
/// | 40 µs in 900 | 0.52 ms | 8–12 ms | 17–21 ms |
/// | 60 µs in 900 | 0.52–0.53 ms | 0.55–0.74 ms | 1–5 ms |
const STINT: Dur = Dur::from_micros(900);

/// With the time that waking takes, more than the 5 % that the kernel reserves for fair tasks.
const REST: Dur = Dur::from_micros(60);

/// Packets received from the devices in a turn, before it is time to look at the clock.
const BATCH: usize = 32;

/// When the driver returns, and how often it calls the watch.
#[derive(Clone, Copy, Debug)]
pub struct Control<'a> {
    /// Setting this from outside ends the loop within 20 ms, except that packets under way may still arrive.
    pub stop: &'a AtomicBool,
    /// How long they may take at most, after the stop.
    pub drain: Dur,
    /// When the loop ends.
    pub deadline: Time,
    /// Time between two calls of the watch; [`Dur::MAX`] for none.
    pub every: Dur,
}

/// How well the driver kept time.
#[derive(Clone, Debug, Default)]
pub struct Timekeeping {
    /// By the port of departure.
    pub lateness: Vec<Lateness>,
    /// Packets that a device did not take, by port: the interface was down, its queue full, or its MTU too small.
    pub unsent: Vec<u64>,
    /// Packets that a device lost before the driver fetched them, by port, as far as it knows.
    pub missed: Vec<u64>,
    /// How often the driver could not run for more than 1 ms. What was due then left late.
    pub absences: u64,
    pub longest_absence: Dur,
}

/// [`Timekeeping`] of one port in numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct DepartureRecord {
    #[serde(flatten)]
    pub lateness: LatenessRecord,
    pub unsent_packets: u64,
}

impl Timekeeping {
    fn new(ports: usize) -> Timekeeping {
        Timekeeping {
            lateness: vec![Lateness::default(); ports],
            unsent: vec![0; ports],
            missed: vec![0; ports],
            ..Timekeeping::default()
        }
    }

    /// The driver is back at `now`, after a sleep or a turn's work, and had intended to be at `meant`.
    fn on_return(&mut self, now: Time, meant: Time) {
        let away = now.since(meant);
        if away > AWAY {
            self.absences += 1;
            self.longest_absence = self.longest_absence.max(away);
        }
    }

    fn ask(&mut self, devices: &[impl PacketDevice]) {
        self.missed = devices.iter().map(PacketDevice::missed).collect();
    }

    pub fn departures(&self, port: usize) -> DepartureRecord {
        DepartureRecord { lateness: self.lateness[port].record(), unsent_packets: self.unsent[port] }
    }
}

/// Runs `emulator` between `devices`, one for each port, until it is to stop. `watch` is called at intervals, and may
/// break off.
///
/// # Errors
/// A device is gone for good.
pub fn drive<O: Observer>(
    emulator: &mut Emulator<O>,
    devices: &mut [impl PacketDevice],
    clock: &Clock,
    control: &Control<'_>,
    mut watch: impl FnMut(Time, &mut Emulator<O>, &Timekeeping) -> ControlFlow<()>,
) -> io::Result<Timekeeping> {
    let mut kept = Timekeeping::new(devices.len());
    let begin = clock.now();
    let mut inbox = Inbox::new(devices.len(), begin, control.deadline);
    let mut watch_at = begin + control.every;
    let mut meant = Time::NEVER;
    let mut stint = Stint { since: begin, slept: Dur::ZERO };
    let mut end = Time::NEVER;
    loop {
        let look = clock.look();
        kept.on_return(look.now, meant);
        inbox.begin_turn();
        let received = receive(emulator, devices, &mut inbox, &look)?;
        let settled = inbox.settle_until(look.now);
        transmit(emulator, devices, settled, clock, &mut kept)?;
        if control.stop.load(Ordering::Relaxed) {
            end = end.min(look.now + control.drain);
        }
        let is_drained = end < Time::NEVER && !received && emulator.under_way() == 0;
        if settled >= control.deadline || look.now >= end || is_drained {
            break;
        }
        if settled >= watch_at {
            watch_at = settled + control.every;
            kept.ask(devices);
            if watch(settled, emulator, &kept).is_break() {
                break;
            }
        }
        let next = emulator.poll_timeout().min(watch_at).min(control.deadline);
        let now = clock.now();
        kept.on_return(now, look.now);
        meant = match stint.pause(now, received, next) {
            Pause::None => now,
            Pause::Rest => sleep(&mut [], now, REST)?,
            Pause::Wait(left) => wait(devices, now, left)?,
        };
        if meant > now {
            stint.slept += clock.now().since(now);
        }
    }
    inbox.end();
    while receive(emulator, devices, &mut inbox, &clock.look())? {}
    kept.ask(devices);
    Ok(kept)
}

/// Passes packets from the devices to the emulator. Returns whether any came.
fn receive<O: Observer>(
    emulator: &mut Emulator<O>,
    devices: &mut [impl PacketDevice],
    inbox: &mut Inbox,
    look: &Look,
) -> io::Result<bool> {
    let mut received = false;
    for _ in 0..BATCH {
        let Some(arrival) = inbox.next(devices, look)? else { break };
        emulator.handle_packet(arrival.at, arrival.port, arrival.bytes);
        received = true;
    }
    Ok(received)
}

/// Sends what has left the path by `settled`.
fn transmit<O: Observer>(
    emulator: &mut Emulator<O>,
    devices: &mut [impl PacketDevice],
    settled: Time,
    clock: &Clock,
    kept: &mut Timekeeping,
) -> io::Result<()> {
    while let Some(transmit) = emulator.poll_transmit(settled) {
        kept.lateness[transmit.port].add(clock.now().since(transmit.due));
        if let Err(error) = devices[transmit.port].send(transmit.bytes) {
            if !is_passing(&error) {
                return Err(error);
            }
            kept.unsent[transmit.port] += 1;
        }
    }
    Ok(())
}

/// Returns whether only this packet is lost, as on any link: the device is down for a while, or has no room, or its
/// MTU is too small.
fn is_passing(error: &io::Error) -> bool {
    let passing = [
        Errno::ENETDOWN,
        Errno::ENOBUFS,
        Errno::EAGAIN,
        Errno::EMSGSIZE,
        Errno::EIO,
        Errno::ENETUNREACH,
        Errno::EINVAL,
    ];
    error.raw_os_error().is_some_and(|code| passing.contains(&Errno::from_raw(code)))
}

/// What the driver does at the end of a turn.
enum Pause {
    None,
    Rest,
    Wait(Dur),
}

/// How long the driver has slept lately.
struct Stint {
    since: Time,
    slept: Dur,
}

impl Stint {
    /// Decides after a turn that ended at `now`. `received` tells whether packets came in the turn; the next thing to
    /// do is due at `next`.
    fn pause(&mut self, now: Time, received: bool, next: Time) -> Pause {
        if now.since(self.since) >= STINT {
            let slept = std::mem::replace(self, Stint { since: now, slept: Dur::ZERO }).slept;
            if slept < REST {
                return Pause::Rest;
            }
        }
        match next.since(now).saturating_sub(SPIN).min(TICK) {
            left if left > Dur::ZERO && !received => Pause::Wait(left),
            _ => Pause::None,
        }
    }
}

/// Sleeps until a packet waits, for at most `left`. Returns when that time is over.
fn wait(devices: &[impl PacketDevice], now: Time, left: Dur) -> io::Result<Time> {
    let mut waiting: Vec<PollFd<'_>> =
        devices.iter().map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN)).collect();
    sleep(&mut waiting, now, left)
}

/// Sleeps for `left`, or until a packet waits at one of these. Returns when that time is over.
fn sleep(waiting: &mut [PollFd<'_>], now: Time, left: Dur) -> io::Result<Time> {
    let timeout = TimeSpec::new((left.0 / NANOS_PER_SEC) as i64, (left.0 % NANOS_PER_SEC) as i64);
    match ppoll(waiting, Some(timeout), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(now + left),
        Err(error) => Err(error.into()),
    }
}
