//! The links on a medium.

use super::Airtime;
use crate::path::general::General;
use crate::path::line::Line;

#[derive(Default)]
pub struct Members {
    links: Vec<Member>,
    /// The links whose next output may be another one than they said.
    moved: Vec<usize>,
}

pub(super) struct Member {
    pub general: General,
    /// What the medium had done when the link's counts were reset.
    pub airtime_before: Airtime,
    has_moved: bool,
}

impl Members {
    /// Returns the number of the new link.
    pub(super) fn add(&mut self, general: General) -> usize {
        self.links.push(Member { general, airtime_before: Airtime::default(), has_moved: false });
        self.links.len() - 1
    }

    pub(super) fn member(&mut self, link: usize) -> &mut Member {
        &mut self.links[link]
    }

    pub fn general(&mut self, link: usize) -> &mut General {
        &mut self.links[link].general
    }

    pub fn line(&self, link: usize) -> &Line {
        &self.links[link].general.line
    }

    /// The next output of `link` may be another one than it said.
    pub fn on_moved(&mut self, link: usize) {
        if !std::mem::replace(&mut self.links[link].has_moved, true) {
            self.moved.push(link);
        }
    }

    pub(super) fn take_moved(&mut self) -> Option<usize> {
        let link = self.moved.pop()?;
        self.links[link].has_moved = false;
        Some(link)
    }
}
