//! The LIRS stack S: a second ordering of the arena's slots, with the most recently accessed block on top.

use super::super::arena::Slot;
use nacre_kernel::state::{State, Value};

/// Link of a slot that is not in the stack.
const OUT: Slot = Slot::MAX;

/// The end of the stack, above the top and below the bottom. Slot 0 is the head of a queue of the arena and
/// never holds a block.
const END: Slot = 0;

#[derive(Clone, Copy, Debug, Value)]
struct Links {
    above: Slot,
    below: Slot,
}

/// The stack: slots in LRU order.
#[derive(Debug, State)]
pub(super) struct Stack {
    #[state(varies)]
    links: Vec<Links>,
}

impl Stack {
    /// Creates an empty stack.
    pub(super) fn new() -> Stack {
        Stack { links: vec![Links { above: END, below: END }] }
    }

    /// The slot at the bottom, if any.
    #[inline]
    pub(super) fn bottom(&self) -> Option<Slot> {
        let bottom = self.links[END as usize].above;
        (bottom != END).then_some(bottom)
    }

    /// Whether `slot` is in the stack.
    #[inline]
    pub(super) fn contains(&self, slot: Slot) -> bool {
        self.links.get(slot as usize).is_some_and(|links| links.above != OUT)
    }

    /// Moves `slot` to the top from any position.
    #[inline]
    pub(super) fn raise(&mut self, slot: Slot) {
        self.remove(slot);
        if self.links.len() <= slot as usize {
            self.links.resize(slot as usize + 1, Links { above: OUT, below: OUT });
        }
        let top = self.links[END as usize].below;
        self.links[END as usize].below = slot;
        self.links[top as usize].above = slot;
        self.links[slot as usize] = Links { above: END, below: top };
    }

    /// Removes `slot` if it is in the stack.
    #[inline]
    pub(super) fn remove(&mut self, slot: Slot) {
        if !self.contains(slot) {
            return;
        }
        let Links { above, below } = self.links[slot as usize];
        self.links[above as usize].below = below;
        self.links[below as usize].above = above;
        self.links[slot as usize] = Links { above: OUT, below: OUT };
    }

    /// The slots from the bottom to the top.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        std::iter::successors(self.bottom(), |slot| {
            let above = self.links[*slot as usize].above;
            (above != END).then_some(above)
        })
    }
}
