//! Which of its links a station serves next: in turn, or by airtime.
//!
//! By airtime, each link has a deficit, as in mac80211 (Høiland-Jørgensen et al., "Ending the Anomaly", USENIX ATC 2017, section 3.2): what it
//! sends is taken from it, and what comes back from its far end, too. A link is served until it owes airtime. Then it gets a quantum and
//! goes to the end of the round.

use airtcp_wire::Dur;
use std::collections::VecDeque;

/// The default weight of a station in mac80211, in microseconds.
const QUANTUM: Dur = Dur::from_micros(256);

pub struct Rota {
    by_airtime: bool,
    /// By link, in ns.
    deficits: Vec<i64>,
    /// The link in the other direction.
    back: Vec<Option<usize>>,
    /// The link that sent last, unless it owed airtime.
    stays: Option<usize>,
}

impl Rota {
    /// `ends` are the nodes at which each link begins and ends.
    pub fn new(by_airtime: bool, ends: &[[usize; 2]]) -> Rota {
        let back = |&[from, to]: &[usize; 2]| ends.iter().position(|other| *other == [to, from]);
        let (deficits, back) = (vec![0; ends.len()], ends.iter().map(back).collect());
        Rota { by_airtime, deficits, back, stays: None }
    }

    /// A link has something to send, beside the other `links` of its station.
    pub fn join(&self, link: usize, links: &mut VecDeque<usize>) {
        match self.by_airtime && self.stays == Some(link) {
            true => links.push_front(link),
            false => links.push_back(link),
        }
    }

    /// Takes the next one out of the links of a station.
    pub fn next(&mut self, links: &mut VecDeque<usize>) -> Option<usize> {
        while self.by_airtime && self.owes(*links.front()?) {
            self.deficits[links[0]] += QUANTUM.0 as i64;
            links.rotate_left(1);
        }
        links.pop_front()
    }

    fn owes(&self, link: usize) -> bool {
        self.deficits[link] < 0
    }

    /// A link has sent for so long.
    pub fn on_airtime(&mut self, link: usize, airtime: Dur) {
        for link in self.back[link].into_iter().chain([link]) {
            self.deficits[link] -= airtime.0 as i64;
        }
        let owes = self.owes(link);
        if owes {
            self.deficits[link] += QUANTUM.0 as i64;
        }
        self.stays = (!owes).then_some(link);
    }
}
