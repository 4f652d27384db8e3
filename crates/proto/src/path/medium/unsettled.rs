//! What a link on a medium has sent and does not know the end of, and what it has counted there.

use super::counts::Turns;
use crate::path::{Burst, Frame};
use airtcp_wire::Time;
use std::collections::VecDeque;

#[derive(Default)]
pub struct Unsettled {
    /// What is sent before anything else, in order.
    pub repeats: VecDeque<Frame>,
    pub window: Window,
    /// What is sent in this turn, until it is known what becomes of it.
    pub burst: Burst,
    pub turns: Turns,
    /// If they are logged.
    pub log: Option<Vec<LoggedTurn>>,
}

/// A turn of a link on its medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoggedTurn {
    pub begun: Time,
    /// With what acknowledged it.
    pub ended: Time,
    pub collided: bool,
}

impl Unsettled {
    /// How many numbers are not settled, with those that frames wait for that were called off.
    pub fn open(&self) -> usize {
        self.window.len() + self.repeats.iter().filter(|frame| frame.is_called_off()).count()
    }

    /// Forgets all packets, and returns them.
    pub fn take_all(&mut self) -> Vec<u32> {
        let Window { frames, .. } = std::mem::take(&mut self.window);
        let settled = frames.into_iter().flatten().map(|(frame, _)| frame);
        let sent = self.burst.drain(..);
        settled.chain(sent).chain(self.repeats.drain(..)).map(|frame| frame.item.id).collect()
    }
}

/// Restores the order in which frames were first sent. A frame waits for those before it whose fate is unknown.
#[derive(Default)]
pub struct Window {
    /// By number. `None`: its fate is unknown. Otherwise, whether it is lost.
    frames: VecDeque<Option<(Frame, bool)>>,
    /// Number of the first one.
    first: u64,
}

impl Window {
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// A frame is sent for the first time. Returns its number.
    pub fn open(&mut self) -> u64 {
        self.frames.push_back(None);
        self.first + self.frames.len() as u64 - 1
    }

    /// A frame has been read, or is lost for good.
    pub fn settle(&mut self, frame: Frame, is_lost: bool) {
        let place = (frame.number - self.first) as usize;
        self.frames[place] = Some((frame, is_lost));
    }

    /// The next frame in order, and whether it is lost.
    pub fn pop(&mut self) -> Option<(Frame, bool)> {
        let next = self.frames.front().copied().flatten()?;
        self.frames.pop_front();
        self.first += 1;
        Some(next)
    }
}
