//! The connection machine against the Linux kernel's TCP: 10 MB each way through a TUN device, with packets lost and
//! options off. Each case has a network namespace of its own, which goes with the threads that live in it.

#[path = "interop/kernel.rs"]
mod kernel;
#[path = "interop/lossy.rs"]
mod lossy;
#[path = "interop/transfer.rs"]
mod transfer;

use airtcp_live::Tun;
use airtcp_live::emulate::Clock;
use airtcp_live::stack::{FlowKey, InitialNumbers, Newcomers, Room, Settings, Stack};
use airtcp_proto::Chances;
use airtcp_proto::tcp::{TcpConfig, profile};
use airtcp_wire::packet::Endpoints;
use airtcp_wire::{Dur, Seq, Time};
use lossy::Lossy;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::time::TimeSpec;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use transfer::Transfer;

/// Longest that a case may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// Who opens the connection actively, and so sends first: the other sends once the first has closed its direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opener {
    Machine,
    Kernel,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    V4,
    V6,
}

/// The options that are in use. They are switched off at whichever end opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct TcpOptions {
    sack: bool,
    timestamps: bool,
    window_scaling: bool,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    family: Family,
    opener: Opener,
    options: TcpOptions,
    /// Probability of a packet's loss, each way.
    loss: f64,
    /// Both applications let their receive buffers fill before they read.
    slow_readers: bool,
    seed: u64,
}

const ALL: TcpOptions = TcpOptions { sack: true, timestamps: true, window_scaling: true };

const OPTION_SETS: [TcpOptions; 5] = [
    ALL,
    TcpOptions { sack: false, ..ALL },
    TcpOptions { timestamps: false, ..ALL },
    TcpOptions { window_scaling: false, ..ALL },
    TcpOptions { sack: false, timestamps: false, window_scaling: false },
];

const CASE: Case = Case {
    family: Family::V4,
    opener: Opener::Machine,
    options: ALL,
    loss: 0.0,
    slow_readers: false,
    seed: 7,
};

impl Case {
    /// The machine's address, then the kernel's.
    fn addresses(&self) -> [SocketAddr; 2] {
        let hosts = match self.family {
            Family::V4 => ["10.9.0.2:4000", "10.9.0.1:5000"],
            Family::V6 => ["[fd00:9::2]:4000", "[fd00:9::1]:5000"],
        };
        hosts.map(|host| host.parse().unwrap())
    }

    fn config(&self) -> TcpConfig {
        let mut config = profile::linux();
        if self.opener == Opener::Machine {
            config.sack = self.options.sack;
            config.timestamps = self.options.timestamps;
            config.window_scaling = self.options.window_scaling;
        }
        // The path takes microseconds: a floor of 200 ms would be all that the test waits for.
        config.rto.min = Dur::from_millis(10);
        config
    }

    fn stack(&self, device: Lossy<Tun>) -> Stack<Lossy<Tun>> {
        let room = if self.slow_readers { Room::fixed(50_000) } else { Room::default() };
        let settings = Settings {
            config: self.config(),
            room,
            mtu: 1500,
            ports: Vec::new(),
            half_open: 1,
            keepalive: None,
            fast_open: false,
        };
        Stack::new(device, settings, Wrapping, self.seed)
    }

    /// Runs in a namespace that this thread makes for itself.
    fn run(self) {
        unshare(CloneFlags::CLONE_NEWNET).expect("permitted a moment ago");
        if self.opener == Opener::Kernel {
            kernel::switch_options(self.options.sack, self.options.timestamps, self.options.window_scaling);
        }
        kernel::shorten_rto();
        if self.slow_readers {
            kernel::shrink_receive_buffers();
        }
        let [machine, kernel] = self.addresses();
        let prefix = if machine.is_ipv4() { 24 } else { 64 };
        let tun = Tun::open("airtcp0", kernel.ip(), prefix, 1500).expect("a TUN device");
        kernel::await_address(kernel.ip());
        let streams = Chances::new(self.seed);
        let device = Lossy::new(tun, self.loss, streams.chance("in"), streams.chance("out"));
        let mut stack = self.stack(device);
        let pause = if self.slow_readers { Duration::from_millis(200) } else { Duration::ZERO };
        let clock = Clock::start();
        let (peer, opened) = match self.opener {
            Opener::Machine => {
                stack.newcomers = Newcomers::PassBy;
                let peer = kernel::accept(kernel, self.seed, pause);
                (peer, Some(stack.connect(clock.now(), machine, kernel).unwrap()))
            }
            Opener::Kernel => (kernel::connect(machine, self.seed, pause), None),
        };
        let patience = if self.slow_readers { 4 } else { 0 };
        let mut transfer = Transfer::new(self.seed ^ 1, self.opener == Opener::Machine, patience);
        drive(&mut stack, &clock, opened, &mut transfer);
        let syn = stack.device_mut().received_syn().expect("the connection was established");
        let negotiated = TcpOptions {
            sack: syn.syn.sack_permitted,
            timestamps: syn.timestamps.is_some(),
            window_scaling: syn.syn.window_scale.is_some(),
        };
        assert_eq!(negotiated, self.options);
        let sent_by_kernel = transfer::pattern_hash(self.seed);
        let sent_by_machine = transfer::pattern_hash(self.seed ^ 1);
        assert_eq!(transfer.received_hash(), sent_by_kernel, "what the machine received");
        assert_eq!(peer.join().expect("the kernel's side"), sent_by_machine, "what the kernel received");
    }
}

/// Sequence numbers wrap in the middle of the transfer.
struct Wrapping;

impl InitialNumbers for Wrapping {
    fn next(&mut self, _now: Time, _endpoints: &Endpoints) -> Seq {
        Seq(u32::MAX - 5_000_000)
    }

    fn hash(&self, endpoints: &Endpoints, [a, b]: [u64; 2]) -> u32 {
        ((a ^ b ^ u64::from(endpoints.ports.destination)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }
}

/// Turns until the transfer is over, over the connection that was opened, or the first that comes.
fn drive(stack: &mut Stack<Lossy<Tun>>, clock: &Clock, mut opened: Option<FlowKey>, transfer: &mut Transfer) {
    loop {
        let is_idle = !stack.handle_packet(clock.now()).unwrap();
        stack.handle_timeouts(clock.now());
        opened = opened.or_else(|| stack.accept().map(|(key, _)| key));
        stack.take_woken();
        if let Some(key) = opened {
            let flow = stack.get_mut(key).expect("nobody has released it");
            let is_over = transfer.turn(flow);
            stack.flush(clock.now(), key);
            if is_over {
                return;
            }
        }
        if is_idle {
            let timer = stack.poll_timeout();
            let left = || TimeSpec::from(Duration::from_nanos(timer.since(clock.now()).0));
            let timeout = (!timer.is_never()).then(left);
            let _ = ppoll(&mut [PollFd::new(stack.as_fd(), PollFlags::POLLIN)], timeout, None);
        }
    }
}

/// Runs the cases one after another, and names the one that fails or gets stuck.
fn run_all(cases: impl IntoIterator<Item = Case>) {
    if !is_permitted() {
        return;
    }
    for case in cases {
        let (done, wait) = mpsc::channel();
        let thread = thread::spawn(move || {
            case.run();
            done.send(())
        });
        match wait.recv_timeout(PATIENCE) {
            Ok(()) => {}
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("stuck: {case:?}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                assert!(thread.join().is_ok(), "failed: {case:?}");
            }
        }
    }
}

/// May this process make network namespaces and TUN devices?
fn is_permitted() -> bool {
    let attempt = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        Tun::open("airtcp0", IpAddr::from([10, 9, 0, 1]), 24, 1500).map(|_| ())
    });
    match attempt.join().expect("nothing there panics") {
        Ok(()) => true,
        Err(error) => {
            eprintln!("SKIPPED: no network namespace with a TUN device here (needs root): {error}");
            false
        }
    }
}

fn matrix(loss: f64) -> impl Iterator<Item = Case> {
    OPTION_SETS.into_iter().zip(1..).flat_map(move |(options, seed)| {
        [Opener::Machine, Opener::Kernel].map(|opener| Case { opener, options, loss, seed, ..CASE })
    })
}

#[test]
fn without_loss() {
    run_all(matrix(0.0));
}

#[test]
fn one_percent_lost_each_way() {
    run_all(matrix(0.01));
}

#[test]
fn five_percent_lost_each_way() {
    run_all(matrix(0.05));
}

#[test]
fn ipv6_with_one_percent_lost_each_way() {
    let case = |opener| Case { family: Family::V6, opener, loss: 0.01, ..CASE };
    run_all([Opener::Machine, Opener::Kernel].map(case));
}

/// Windows close and open again, and window updates are lost: RFC 9293 §3.8.6.1's probes keep both ways alive.
#[test]
fn readers_that_let_the_window_close() {
    let case = |(opener, loss)| Case { opener, loss, slow_readers: true, ..CASE };
    run_all(
        [(Opener::Machine, 0.0), (Opener::Kernel, 0.0), (Opener::Machine, 0.05), (Opener::Kernel, 0.05)]
            .map(case),
    );
}
