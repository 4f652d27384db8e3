//! The rules of `crates/kernel/src/bpf/header_first`, for one FIFO.

/// `struct arrival` of `bpf/header_first/rules.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    pub bytes: u32,
    pub packets: u32,
    pub is_header: bool,
    pub waiting_bytes: u32,
    pub waiting_packets: u32,
}

/// `struct limits` of `bpf/header_first/intf.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub bytes: u64,
    pub packets: u32,
    pub headers: u32,
}

/// In the order of `enum verdict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    DropHeader,
    Overflow,
}

unsafe extern "C" {
    fn header_first_judge(fifo: *mut u64, arrival: *const Arrival, limits: *const Limits) -> i32;
    fn header_first_size() -> usize;
}

/// What the program remembers of a FIFO; nothing at first.
pub struct Memory {
    state: Vec<u64>,
    limits: Limits,
}

impl Memory {
    pub fn new(limits: Limits) -> Memory {
        // SAFETY: it takes no arguments.
        let size = unsafe { header_first_size() };
        Memory { state: vec![0; size.div_ceil(8)], limits }
    }

    pub fn judge(&mut self, arrival: &Arrival) -> Verdict {
        // SAFETY: the state is as long as C's, and aligned.
        let verdict = unsafe { header_first_judge(self.state.as_mut_ptr(), arrival, &raw const self.limits) };
        [Verdict::Pass, Verdict::DropHeader, Verdict::Overflow][verdict as usize]
    }
}
