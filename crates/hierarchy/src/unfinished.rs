//! What a cache that survives a loss of power has not finished: writes that it is programming, and blocks that
//! it is writing to what is behind it. Empty where no bytes are carried.

use nacre_kernel::state::{State, Value};
use nacre_kernel::{Breakdown, Completion, Data, Device, Op, Random, Request, Status, Time};
use nacre_media::persistence::{Change, Pending, drawn_units};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes of a page that is written in place that a loss of power leaves old or new.
const TORN_UNIT: u32 = 64;

/// When what `backing` acknowledged by `done` survives a loss of power there. Where it promises only what was
/// flushed, it is flushed, since the cache forgets what went back; where stored energy decides, all it does is waited
/// for. A flush that fails may have lost any of it: it counts as refused.
pub(crate) fn safe_in(backing: &mut dyn Device, done: Time, scratch: &mut Breakdown) -> Completion {
    let persistence = backing.capabilities().persistence;
    let mut safe = Completion { done, status: Status::Done };
    if persistence.needs_flush() {
        scratch.clear();
        let flush = Request { arrival: done, address: 0, bytes: 0, volume: 0, op: Op::Flush };
        safe = backing.submit(done, &flush, Data::None, scratch);
    }
    if persistence.is_up_to_energy() {
        safe.done = safe.done.max(backing.busy_until());
    }
    safe
}

/// Writes `bytes` to `backing` from `at` on, behind a loss of power that interrupted it: from when on they survive
/// there; `None` where it refuses them, or cannot save them.
pub(crate) fn write_again(
    backing: &mut dyn Device,
    at: Time,
    address: u64,
    bytes: &[u8],
    scratch: &mut Breakdown,
) -> Option<Time> {
    scratch.clear();
    let request = Request { arrival: at, address, bytes: bytes.len() as u32, volume: 0, op: Op::Write };
    let written = backing.submit(at, &request, Data::Write(bytes), scratch);
    if written.status != Status::Done {
        return None;
    }
    let safe = safe_in(backing, written.done, scratch);
    (safe.status == Status::Done).then_some(safe.done)
}

/// What happened to blocks lately.
#[derive(Debug, Default, State)]
pub(crate) struct Unfinished {
    pending: Pending<Step>,
}

/// What happens to a block until `end`.
#[derive(Debug, Value)]
struct Step {
    block: u64,
    end: Time,
    kind: Kind,
}

#[derive(Debug, Value)]
enum Kind {
    /// Elsewhere than where it was; its bytes before, where the cache alone had them, empty where it could not read them.
    Written(Option<Vec<u8>>),
    WrittenOver {
        old: Vec<u8>,
        new: Vec<u8>,
    },
    /// Its bytes go to the backing, and the cache forgets it.
    SentBack(Vec<u8>),
}

/// What a loss of power makes of blocks.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// Blocks that are not in the cache any more.
    pub(crate) gone: BTreeSet<u64>,
    /// Blocks that the cache still has, and that have to go to the backing; empty where it cannot read them.
    pub(crate) rescued: BTreeMap<u64, Vec<u8>>,
}

impl Change for Step {
    type Ends = ();

    fn place(&self) -> Range<u64> {
        self.block..self.block + 1
    }

    fn landed_at(&self, (): &()) -> Time {
        self.end
    }

    fn check(&self) -> Result<(), String> {
        match &self.kind {
            _ if self.block == u64::MAX => Err("a block that is none".into()),
            Kind::WrittenOver { old, new } if old.len() != new.len() => Err("a write that is none".into()),
            _ => Ok(()),
        }
    }
}

impl Unfinished {
    /// `block` is written elsewhere than where it was, up to `end`; `old` are its bytes before, if the cache alone
    /// has them, and empty if it cannot read them.
    pub(crate) fn written(&mut self, block: u64, end: Time, old: Option<Vec<u8>>) {
        self.push(block, end, Kind::Written(old));
    }

    /// `block` is written over its `old` bytes, up to `end`.
    pub(crate) fn written_over(&mut self, block: u64, end: Time, old: Vec<u8>, new: Vec<u8>) {
        self.push(block, end, Kind::WrittenOver { old, new });
    }

    /// `block` leaves the cache for the backing, which has it at `end`.
    pub(crate) fn sent_back(&mut self, block: u64, end: Time, bytes: Vec<u8>) {
        self.push(block, end, Kind::SentBack(bytes));
    }

    fn push(&mut self, block: u64, end: Time, kind: Kind) {
        self.pending.push(Step { block, end, kind }, end);
    }

    /// No loss of power comes before `to`.
    pub(crate) fn settle(&mut self, to: Time) {
        self.pending.settle(to, &());
    }

    /// The power fails at `at`. Nothing is kept afterwards.
    pub(crate) fn fail(&mut self, at: Time, chance: &mut Random) -> Aftermath {
        let mut after = Aftermath::default();
        self.pending.fail(at, &(), |lost| {
            let Step { block, kind, .. } = lost.change;
            let held = match kind {
                Kind::SentBack(bytes) => {
                    after.rescued.insert(block, bytes);
                    return;
                }
                Kind::Written(old) => old,
                // Of a later write, none of which happened, nothing is left.
                Kind::WrittenOver { old, new } => Some(torn(old, &new, chance)),
            };
            after.gone.insert(block);
            match held {
                Some(bytes) => after.rescued.insert(block, bytes),
                None => after.rescued.remove(&block),
            };
        });
        after
    }
}

/// Bytes of which each unit is old or new.
fn torn(mut old: Vec<u8>, new: &[u8], chance: &mut Random) -> Vec<u8> {
    for unit in drawn_units(0..old.len() as u64, TORN_UNIT, chance) {
        let unit = unit.start as usize..unit.end as usize;
        old[unit.clone()].copy_from_slice(&new[unit]);
    }
    old
}
