//! The rules of `crates/kernel/src/bpf/filter`, for one flow.

/// `struct segment` of `bpf/filter/rules.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub seq: u32,
    pub ack: u32,
    pub len: u32,
    pub ts_value: u32,
    pub ts_echo: u32,
    pub window: u16,
    pub flags: u8,
    pub is_marked: bool,
    pub has_timestamps: bool,
    pub sack_count: u8,
    pub sack: [[u32; 2]; 4],
}

/// In the order of `enum verdict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Drop,
    Answer,
}

unsafe extern "C" {
    fn filter_judge(flow: *mut u64, segment: *const Segment, way: i32, threshold: u32) -> i32;
    fn filter_is_over(flow: *const u64) -> i32;
    fn filter_flow_size() -> usize;
    fn filter_last(flow: *const u64, last: *mut Segment);
}

/// What the programs know of a flow; nothing at first.
pub struct FlowState {
    state: Vec<u64>,
}

impl Default for FlowState {
    fn default() -> FlowState {
        // SAFETY: it takes no arguments.
        let size = unsafe { filter_flow_size() };
        FlowState { state: vec![0; size.div_ceil(8)] }
    }
}

impl FlowState {
    /// Judges a packet from the fixed host, or one to it.
    pub fn judge(&mut self, segment: &Segment, is_forward: bool, threshold: u32) -> Verdict {
        // SAFETY: the state is as long as C's, and aligned.
        let verdict =
            unsafe { filter_judge(self.state.as_mut_ptr(), segment, i32::from(!is_forward), threshold) };
        [Verdict::Pass, Verdict::Drop, Verdict::Answer][verdict as usize]
    }

    /// Forgets a flow that has ended.
    pub fn bury(&mut self) {
        // SAFETY: as above.
        if unsafe { filter_is_over(self.state.as_ptr()) } != 0 {
            self.state.fill(0);
        }
    }

    /// The ACK that answers a segment.
    pub fn last(&self) -> Segment {
        let mut last = Segment::default();
        // SAFETY: as above.
        unsafe { filter_last(self.state.as_ptr(), &raw mut last) };
        last
    }
}
