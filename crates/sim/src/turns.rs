//! Which link acts next: the sides' wake-up times as the leaves of a tournament.
//!
//! Invariant: each node of the tree holds the earlier of its two children, the left one if they are equal. So its root is the earliest
//! turn of all and, at one instant, the side with the lowest number. A change costs one comparison for each doubling of the sides.

use crate::routes::Side;
use airtcp_wire::Time;

/// When a side wants to be polled.
pub type Turn = (Time, Side);

pub struct Turns {
    /// The root is at 1, and the children of `i` are at `2 * i` and `2 * i + 1`. The last half has one leaf for each side.
    tree: Box<[Turn]>,
    /// The root.
    next: Turn,
}

impl Turns {
    /// The turns of the sides in order of their numbers.
    pub fn new(wakes: impl ExactSizeIterator<Item = Time>) -> Turns {
        let leaves = wakes.len().next_power_of_two();
        let mut tree = vec![(Time::NEVER, Side(0)); 2 * leaves].into_boxed_slice();
        for ((leaf, side), wake) in tree[leaves..].iter_mut().zip(0..).zip(wakes) {
            *leaf = (wake, Side(side));
        }
        for node in (1..leaves).rev() {
            tree[node] = earlier(&tree, node);
        }
        Turns { next: tree[1], tree }
    }

    /// The earliest turn; [`Time::NEVER`] if there is none.
    #[inline(always)]
    pub fn next(&self) -> Turn {
        self.next
    }

    /// Sets when a side wants to be polled.
    #[inline(always)]
    pub fn set(&mut self, side: Side, at: Time) {
        let leaf = self.tree.len() / 2 + usize::from(side.0);
        if self.tree[leaf].0 != at {
            self.tree[leaf].0 = at;
            self.play_again(leaf);
        }
    }

    #[inline(never)]
    fn play_again(&mut self, leaf: usize) {
        let mut node = leaf;
        while node > 1 {
            node /= 2;
            let turn = earlier(&self.tree, node);
            if self.tree[node] == turn {
                return;
            }
            self.tree[node] = turn;
        }
        self.next = self.tree[1];
    }
}

/// The earlier of a node's children.
#[inline(always)]
fn earlier(tree: &[Turn], node: usize) -> Turn {
    let (left, right) = (tree[2 * node], tree[2 * node + 1]);
    if right.0 < left.0 { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_turn_is_the_earliest_of_all(
            sides in 1u16..70,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u64..9), 0..200),
        ) {
            let mut wakes = vec![Time::NEVER; sides.into()];
            let mut turns = Turns::new(wakes.iter().copied());
            for (side, at) in changes {
                let (side, at) = (side.index(sides.into()), if at == 0 { Time::NEVER } else { Time(at) });
                wakes[side] = at;
                turns.set(Side(side as u16), at);
                let earliest = wakes.iter().copied().zip((0..).map(Side)).min().unwrap();
                prop_assert_eq!(turns.next().0, earliest.0);
                if !earliest.0.is_never() {
                    prop_assert_eq!(turns.next().1, earliest.1);
                }
            }
        }
    }
}
