//! Who hears whom on a medium, and what of that can be read.

/// Who hears whom on a medium. By default all hear all.
#[derive(Clone, Debug, Default)]
pub struct Hearing {
    /// The nodes at which each link begins and ends.
    pub ends: Vec<[usize; 2]>,
    /// Pairs of nodes that do not hear each other.
    pub hidden: Vec<[usize; 2]>,
    /// By how many dB a frame must be stronger than all that overlaps it, to be read. Absent: none is read.
    pub capture_db: Option<f64>,
}

/// What disturbs a frame at the far end, as a ratio to noise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::path) enum Disturbance {
    /// The frame is read if it could be read alone, or with that noise.
    Of(f64),
    /// The frame cannot be read.
    Fatal,
}

impl Hearing {
    /// May a turn begin while another one lasts?
    pub fn hides(&self) -> bool {
        !self.hidden.is_empty()
    }

    pub fn hears(&self, node: usize, other: usize) -> bool {
        !self.hidden.iter().any(|pair| *pair == [node, other] || *pair == [other, node])
    }

    /// Does what `link` sends reach the far end of `other`, or what answers it, if it is answered?
    pub(super) fn reaches(&self, link: usize, other: usize, is_answered: bool) -> bool {
        if !self.hides() {
            return true;
        }
        let far = self.ends[other][1];
        self.ends[link][..=usize::from(is_answered)].iter().any(|&node| node == far || self.hears(node, far))
    }

    /// Does the receiver of both know which is stronger, and does that matter?
    pub(super) fn compares(&self, link: usize, other: usize) -> bool {
        self.capture_db.is_some() && self.ends[link][1] == self.ends[other][1]
    }

    /// What a `signal` meets. Both are ratios to noise.
    pub(super) fn disturbance(&self, signal: impl Fn() -> f64, others: f64) -> Disturbance {
        let is_captured =
            |least_db: f64| others.is_finite() && 10.0 * libm::log10(signal() / others) >= least_db;
        match others == 0.0 || self.capture_db.is_some_and(is_captured) {
            true => Disturbance::Of(others),
            false => Disturbance::Fatal,
        }
    }
}
