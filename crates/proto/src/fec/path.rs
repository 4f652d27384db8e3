//! What a path loses: how many packets, and how many in a row.

/// Packets over which what was seen is forgotten.
const MEMORY: f64 = 1000.0;
/// What is assumed at first: one of a hundred is lost. A path that loses nothing has shown it after some hundred packets.
const ASSUMED: Tally = Tally { sent: 100.0, lost: 1.0, variance: 0.1, expected: 0.1 };
/// Packets of which the losses are counted together, to see whether they come in bursts.
const BLOCK: f64 = 16.0;
/// The longest mean burst that repairs answer to. They leave at once, so a longer one takes them, too.
const LONGEST: f64 = 4.0;
/// What is lost beyond this share is not worth repairing.
const HIGHEST: f64 = 0.5;

#[derive(Clone, Copy, Debug)]
struct Tally {
    sent: f64,
    lost: f64,
    /// Sum of the variances of a packet's loss, by the difference of one block from the next, and what it would be if losses were
    /// independent.
    variance: f64,
    expected: f64,
}

/// Learns from reports on how many packets were sent and lost.
#[derive(Debug)]
pub struct Path {
    tally: Tally,
    /// Sent and lost since the last block.
    block: (f64, f64),
    /// The share of the last block that was lost.
    last: Option<f64>,
    reported: Option<(u16, u16)>,
}

impl Default for Path {
    fn default() -> Path {
        Path { tally: ASSUMED, block: (0.0, 0.0), last: None, reported: None }
    }
}

impl Path {
    /// A report that of `sent` packets so far `lost` are missing, each modulo 2^16.
    pub fn on_report(&mut self, sent: u16, lost: u16) {
        let (before_sent, before_lost) = self.reported.replace((sent, lost)).unwrap_or_default();
        self.block.0 += f64::from(sent.wrapping_sub(before_sent));
        // Negative if packets came late.
        self.block.1 += f64::from(lost.wrapping_sub(before_lost) as i16);
        if self.block.0 >= BLOCK {
            let (sent, lost) = std::mem::take(&mut self.block);
            self.add(sent, lost.clamp(0.0, sent));
        }
    }

    fn add(&mut self, sent: f64, lost: f64) {
        let kept = (1.0 - sent / MEMORY).max(0.0);
        let share = lost / sent;
        let before = self.last.replace(share).unwrap_or(share);
        let (step, mean) = (share - before, (share + before) / 2.0);
        self.tally.sent = self.tally.sent * kept + sent;
        self.tally.lost = self.tally.lost * kept + lost;
        self.tally.variance = self.tally.variance * kept + step * step / 2.0 * sent;
        self.tally.expected = self.tally.expected * kept + mean * (1.0 - mean);
    }

    /// The share of packets that are lost.
    pub fn loss(&self) -> f64 {
        (self.tally.lost / self.tally.sent).clamp(0.0, HIGHEST)
    }

    /// The mean length of a burst of losses: if it is b, the losses of a block vary by 2b − 1 times what independent ones do.
    pub fn burst(&self) -> f64 {
        let Tally { variance, expected, .. } = self.tally;
        ((variance / expected.max(1e-9) + 1.0) / 2.0).clamp(1.0, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Chances;

    /// Reports on two packets each. A burst begins with probability `begins` after a packet that came, and ends with `ends`.
    fn path(begins: f64, ends: f64) -> Path {
        let (mut path, mut chance) = (Path::default(), Chances::new(1).chance("path"));
        let (mut sent, mut lost, mut is_lost) = (0_u16, 0_u16, false);
        for _ in 0..5_000 {
            is_lost = chance.happens(if is_lost { 1.0 - ends } else { begins });
            (sent, lost) = (sent.wrapping_add(1), lost.wrapping_add(is_lost.into()));
            if sent.is_multiple_of(2) {
                path.on_report(sent, lost);
            }
        }
        path
    }

    #[test]
    fn loss_and_bursts_are_learned() {
        let (none, single, bursts) = (path(0.0, 1.0), path(0.15, 0.85), path(0.02, 0.25));
        assert!(none.loss() < 1e-3, "{none:?}");
        assert!((single.loss() - 0.15).abs() < 0.03 && single.burst() < 1.3, "{single:?}");
        assert!((bursts.loss() - 0.074).abs() < 0.03 && bursts.burst() > 2.0, "{bursts:?}");
    }
}
