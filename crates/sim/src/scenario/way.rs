//! Ways over links: those of data and of what comes back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way the data goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FlowDirection")]
pub enum Direction {
    #[default]
    Forward,
    Reverse,
}

/// A link that a packet crosses, and in which direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Crossing {
    /// Index of the link.
    pub link: usize,
    pub direction: Direction,
}

/// The links between two nodes, in the order in which packets cross them: what goes there, and what comes back. Neither
/// is empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    pub there: Vec<Crossing>,
    pub back: Vec<Crossing>,
}

impl Direction {
    #[must_use]
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }
}

impl Crossing {
    pub(super) fn back(self) -> Crossing {
        Crossing { direction: self.direction.opposite(), ..self }
    }
}

impl Route {
    /// There over these links, and back over the same.
    pub(super) fn and_back(there: Vec<Crossing>) -> Route {
        let back = there.iter().rev().map(|crossing| crossing.back()).collect();
        Route { there, back }
    }

    /// Over the links of a chain from `enter` to `leave`, in path order, or from the last to the first.
    pub fn of_chain(direction: Direction, enter: usize, leave: usize) -> Route {
        let route = Route::and_back(
            (enter..=leave).map(|link| Crossing { link, direction: Direction::Forward }).collect(),
        );
        if direction == Direction::Forward { route } else { route.reversed() }
    }

    #[must_use]
    pub fn reversed(self) -> Route {
        Route { there: self.back, back: self.there }
    }

    /// Does it cross this link, both there and back?
    pub fn crosses(&self, link: usize) -> bool {
        [&self.there, &self.back].into_iter().all(|way| way.iter().any(|crossing| crossing.link == link))
    }

    /// Is all of `other` a part of this route?
    pub fn contains(&self, other: &Route) -> bool {
        let is_part =
            |whole: &[Crossing], part: &[Crossing]| whole.windows(part.len()).any(|some| some == part);
        is_part(&self.there, &other.there) && is_part(&self.back, &other.back)
    }
}
