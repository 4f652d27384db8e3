//! Routes: the sides that packets cross between two nodes.

use crate::scenario::model::{self, Crossing, Link};
use airtcp_proto::middlebox::Direction;
use std::collections::BTreeMap;

/// One direction of one link: twice the link's index, plus one for the way back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Side(pub u16);

impl Side {
    #[inline]
    pub fn direction(self) -> Direction {
        if self.0 & 1 == 0 { Direction::Forward } else { Direction::Reverse }
    }

    #[inline]
    pub fn link(self) -> usize {
        usize::from(self.0 / 2)
    }

    /// The other direction of the same link.
    pub fn opposite(self) -> Side {
        Side(self.0 ^ 1)
    }
}

impl From<Crossing> for Side {
    fn from(Crossing { link, direction }: Crossing) -> Side {
        Side(2 * link as u16 + u16::from(direction == model::Direction::Reverse))
    }
}

/// Index of a route: see [`Routes::side`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RouteId(u16);

/// The routes of a run.
#[derive(Default)]
pub struct Routes {
    routes: Vec<Route>,
    known: BTreeMap<Box<[Side]>, RouteId>,
}

/// The sides in order, and the nodes at which they begin, sorted.
struct Route {
    sides: Box<[Side]>,
    side_at: Box<[(u16, Side)]>,
}

/// Both ways between two ends, which are the indices of all arrays.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    pub nodes: [u16; 2],
    /// The route of what each end sends.
    pub routes: [RouteId; 2],
    /// The side into which each end sends.
    pub sides: [Side; 2],
}

impl Routes {
    /// More than this are too many for one run.
    pub const MOST: usize = 1 << 16;

    /// Adds both ways of a route; `None` if there is no room.
    pub fn ways(&mut self, route: &model::Route, links: &[Link]) -> Option<Ways> {
        let nodes = route.ends(links).map(|node| node as u16);
        let routes = [self.add(&route.there, links)?, self.add(&route.back, links)?];
        Some(Ways { nodes, routes, sides: routes.map(|route| self.sides(route)[0]) })
    }

    /// Adds a route, unless it is known; `None` if there is no room.
    pub fn add(&mut self, way: &[Crossing], links: &[Link]) -> Option<RouteId> {
        let sides: Box<[Side]> = way.iter().copied().map(Side::from).collect();
        if let Some(known) = self.known.get(&sides) {
            return Some(*known);
        }
        let id = RouteId(u16::try_from(self.routes.len()).ok()?);
        let begins = way.iter().map(|crossing| crossing.nodes(links)[0] as u16);
        let mut side_at: Box<[_]> = begins.zip(sides.iter().copied()).collect();
        side_at.sort_unstable();
        self.routes.push(Route { sides: sides.clone(), side_at });
        self.known.insert(sides, id);
        Some(id)
    }

    /// The sides of a route in order.
    pub fn sides(&self, route: RouteId) -> &[Side] {
        &self.routes[usize::from(route.0)].sides
    }

    /// The side on which a route leaves this node.
    #[inline]
    pub fn side(&self, route: RouteId, node: u16) -> Side {
        let Route { side_at, sides } = &self.routes[usize::from(route.0)];
        let place = side_at.partition_point(|(at, _)| *at < node);
        side_at.get(place).map_or(sides[0], |(_, side)| *side)
    }

    pub fn iter(&self) -> impl Iterator<Item = &[Side]> {
        self.routes.iter().map(|route| &*route.sides)
    }
}
