//! For tests: the programs of `crates/kernel/src/bpf/cc` on a model of the kernel's TCP sender (`c/machine.c`).

#![allow(unsafe_code, reason = "calls C; this crate is for tests alone")]

pub mod filter;
pub mod header_first;

use std::ffi::{CStr, CString, c_char};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An ACK, in segments, bytes and microseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    pub now_us: u64,
    pub una: u32,
    pub nxt: u32,
    pub acked: u32,
    pub delivered: u32,
    pub packets_out: u32,
    pub in_flight: u32,
    /// Negative if none was measured.
    pub rtt_us: i32,
    pub srtt_us: u32,
    /// 0 if none.
    pub peer_timestamp: u32,
    pub is_cwnd_limited: bool,
    pub is_echoed: bool,
    /// The scoreboard reports a loss.
    pub is_loss: bool,
    /// Segments lost since the previous ACK.
    pub lost: u32,
    /// Segments delivered over the connection's life when the latest of those acknowledged was sent.
    pub prior_delivered: u32,
    pub is_app_limited: bool,
}

/// cwnd and ssthresh in segments.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// While the kernel lowers it, its target.
    pub cwnd: u32,
    pub ssthresh: u32,
    /// The kernel's TCP_CA_Open (0), Disorder, CWR, Recovery or Loss (4).
    pub state: u32,
    pub owes_cwr: u32,
    /// What may be in flight now.
    pub snd_cwnd: u32,
    /// Number of recoveries that began without a timeout.
    pub recoveries: u32,
    /// Bytes per second; the largest number if it does not pace.
    pub pacing_rate: u64,
}

impl View {
    /// Returns whether it is in CWR or Recovery.
    pub fn is_lowering(&self) -> bool {
        matches!(self.state, 2 | 3)
    }

    /// Returns whether it is in Open or Disorder.
    pub fn is_open(&self) -> bool {
        self.state <= 1
    }

    pub fn is_loss(&self) -> bool {
        self.state == 4
    }
}

/// `struct counters` of `bpf/intf.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub sockets_opened: u64,
    pub sockets_closed: u64,
    pub losses_corruption: u64,
    pub losses_congestion: u64,
    pub losses_undecided: u64,
    pub ecn_echoes: u64,
    pub timeouts: u64,
    pub reductions: u64,
    pub reductions_avoided: u64,
    pub yields: u64,
    pub rivals: u64,
}

impl Counters {
    pub fn losses(&self) -> u64 {
        self.losses_corruption + self.losses_congestion + self.losses_undecided
    }

    pub fn answers(&self) -> u64 {
        self.reductions + self.reductions_avoided
    }
}

enum Raw {}

unsafe extern "C" {
    fn machine_new(name: *const c_char, mss: u32, cwnd: u32, una: u32) -> Option<NonNull<Raw>>;
    fn machine_disconnect(machine: NonNull<Raw>);
    fn machine_free(machine: NonNull<Raw>);
    fn machine_params(name: *const c_char) -> Option<NonNull<u32>>;
    fn machine_ack(machine: NonNull<Raw>, ack: *const Ack);
    fn machine_timeout(machine: NonNull<Raw>, now_us: u64, packets_out: u32);
    fn machine_undo(machine: NonNull<Raw>);
    fn machine_restart(machine: NonNull<Raw>, cwnd: u32);
    fn machine_view(machine: NonNull<Raw>, view: *mut View);
    fn machine_counters(machine: NonNull<Raw>, counters: *mut Counters);
    fn machine_send_cwr(machine: NonNull<Raw>);
    fn machine_is_old(is_so: i32);
}

/// Parameters are the program's, not the socket's, so that there is one machine at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A socket that uses one of the congestion controls.
pub struct Machine {
    raw: NonNull<Raw>,
    name: CString,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    /// `name` is the kernel's, `params` the content of the program's struct of parameters, and `cwnd` in
    /// segments.
    ///
    /// # Panics
    /// There is no such controller.
    pub fn new(name: &str, params: &[u32], mss: u32, cwnd: u32, una: u32) -> Machine {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let name = CString::new(name).expect("a name without zeros");
        unsafe {
            store(&name, params);
            let raw = machine_new(name.as_ptr(), mss, cwnd, una).expect("a controller of bpf/cc");
            Machine { raw, name, _alone: alone }
        }
    }

    /// Makes this thread's machines kernels before Linux 6.15, which tell of an ACK before it is counted, or newer ones.
    pub fn be_old(is_old: bool) {
        unsafe { machine_is_old(i32::from(is_old)) }
    }

    /// Changes the program's parameters under the socket.
    pub fn set_params(&mut self, params: &[u32]) {
        unsafe { store(&self.name, params) }
    }

    pub fn ack(&mut self, ack: &Ack) {
        unsafe { machine_ack(self.raw, ack) }
    }

    pub fn timeout(&mut self, now_us: u64, packets_out: u32) {
        unsafe { machine_timeout(self.raw, now_us, packets_out) }
    }

    /// The last loss or timeout was spurious.
    pub fn undo(&mut self) {
        unsafe { machine_undo(self.raw) }
    }

    /// The connection is given up; up to Linux 6.12, the end of the socket is reported, too.
    pub fn disconnect(&mut self) {
        unsafe { machine_disconnect(self.raw) }
    }

    /// Sending begins again after idleness, with at most `cwnd` segments.
    pub fn restart(&mut self, cwnd: u32) {
        unsafe { machine_restart(self.raw, cwnd) }
    }

    /// The receiver is sent the CWR that it is owed.
    pub fn send_cwr(&mut self) {
        unsafe { machine_send_cwr(self.raw) }
    }

    pub fn view(&self) -> View {
        let mut view = View::default();
        unsafe { machine_view(self.raw, &raw mut view) };
        view
    }

    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        unsafe { machine_counters(self.raw, &raw mut counters) };
        counters
    }
}

unsafe fn store(name: &CStr, params: &[u32]) {
    unsafe {
        if let Some(place) = machine_params(name.as_ptr()) {
            place.as_ptr().copy_from_nonoverlapping(params.as_ptr(), params.len());
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        unsafe { machine_free(self.raw) }
    }
}
