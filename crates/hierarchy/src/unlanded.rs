//! What a cache that survives a loss of power has not finished: writes that it is programming, and blocks that
//! it is writing to what is behind it. Empty where no bytes are carried.
//!
//! The model changes bytes in the order of calls; time follows. A loss of power may therefore come before
//! something that has happened already. Kept here is what it takes to have happened otherwise.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Breakdown, Data, Device, Op, Random, Request, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of a page that is written in place that a loss of power leaves old or new.
const TORN_UNIT: usize = 64;

/// When what `backing` acknowledged by `done` survives a loss of power there. Where it promises only what was
/// flushed, it is flushed, since the cache forgets what went back; where stored energy decides, all it does is waited
/// for.
pub(crate) fn safe_in(backing: &mut dyn Device, done: Time, scratch: &mut Breakdown) -> Time {
    let persistence = backing.capabilities().persistence;
    let mut safe = done;
    if persistence.needs_flush() {
        scratch.clear();
        let flush = Request { arrival: done, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        safe = backing.submit(done, &flush, Data::None, scratch).done;
    }
    if persistence.is_up_to_energy() { safe.max(backing.busy_until()) } else { safe }
}

/// What happened to blocks lately, in the order of calls.
#[derive(Debug, Default, State)]
pub(crate) struct Unlanded {
    #[state(varies)]
    events: VecDeque<Event>,
}

/// Something that is over at `end`.
#[derive(Debug, Value)]
struct Event {
    block: u64,
    end: Time,
    kind: Kind,
    /// Of a write the bytes that it replaces, where the cache alone had them; of what goes to the backing its bytes.
    bytes: Option<Vec<u8>>,
    /// What is written in place, over `bytes`.
    over: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
#[repr(u8)]
enum Kind {
    Written,
    SentBack,
}

/// What a loss of power makes of blocks.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// Blocks that are not in the cache any more.
    pub(crate) gone: BTreeSet<u64>,
    /// Blocks that the cache still has, and that have to go to the backing.
    pub(crate) rescued: BTreeMap<u64, Vec<u8>>,
}

impl Unlanded {
    /// `block` is written elsewhere than where it was, up to `end`; `old` are its bytes before, if the cache alone
    /// has them.
    pub(crate) fn written(&mut self, block: u64, end: Time, old: Option<Vec<u8>>) {
        self.events.push_back(Event { block, end, kind: Kind::Written, bytes: old, over: None });
    }

    /// `block` is written over its `old` bytes, up to `end`.
    pub(crate) fn written_over(&mut self, block: u64, end: Time, old: Vec<u8>, new: Vec<u8>) {
        let (bytes, over) = (Some(old), Some(new));
        self.events.push_back(Event { block, end, kind: Kind::Written, bytes, over });
    }

    /// `block` leaves the cache for the backing, which has it at `end`.
    pub(crate) fn sent_back(&mut self, block: u64, end: Time, bytes: Vec<u8>) {
        self.events.push_back(Event { block, end, kind: Kind::SentBack, bytes: Some(bytes), over: None });
    }

    /// No loss of power comes before `to`.
    pub(crate) fn settle(&mut self, to: Time) {
        while self.events.front().is_some_and(|event| event.end <= to) {
            self.events.pop_front();
        }
    }

    /// The power fails at `at`. Nothing is kept afterwards.
    pub(crate) fn fail(&mut self, at: Time, chance: &mut Random) -> Aftermath {
        let mut after = Aftermath::default();
        // Blocks about which nothing earlier can matter.
        let mut settled = BTreeSet::new();
        for event in self.events.drain(..).rev() {
            if settled.contains(&event.block) {
                continue;
            }
            match (event.kind, event.end <= at) {
                (Kind::Written, true) => {
                    settled.insert(event.block);
                }
                (Kind::Written, false) => {
                    after.gone.insert(event.block);
                    match (event.bytes, event.over) {
                        (Some(old), Some(new)) => {
                            // Of a later write, none of which happened, nothing is left.
                            after.rescued.insert(event.block, torn(&old, &new, chance));
                        }
                        (Some(old), None) => {
                            after.rescued.insert(event.block, old);
                        }
                        (None, _) => {
                            after.rescued.remove(&event.block);
                        }
                    }
                }
                (Kind::SentBack, true) => {
                    settled.insert(event.block);
                }
                (Kind::SentBack, false) => {
                    let bytes = event.bytes.expect("it has bytes");
                    after.rescued.insert(event.block, bytes);
                }
            }
        }
        after
    }
}

/// Bytes of which each unit is old or new.
fn torn(old: &[u8], new: &[u8], chance: &mut Random) -> Vec<u8> {
    let units = old.chunks(TORN_UNIT).zip(new.chunks(TORN_UNIT));
    units.flat_map(|(old, new)| if chance.chance(0.5) { new } else { old }).copied().collect()
}
