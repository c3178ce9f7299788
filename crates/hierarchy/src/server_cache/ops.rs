//! Operations of the cache on its devices. An operation waits for earlier operations.

use crate::map::Map;
use nacre_kernel::event::{Payload, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Span, Time};
use std::collections::VecDeque;

/// Marks an absent operation.
pub(super) const NONE: u32 = u32::MAX;
/// Level of an operation that does not access a copy in a level.
pub(super) const NO_LEVEL: u8 = u8::MAX;

/// Purpose of an operation, which determines the action at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
pub(super) enum Purpose {
    /// A read that serves a whole host request, for one block of the first level.
    #[default]
    Alone,
    /// A read of a portion of a block from a level, for the host.
    Hit,
    /// A read of a whole block from a level, for the host and for the level to which the block moves up.
    Rise,
    /// A read of whole blocks from the backing.
    Fetch,
    /// A read of a whole block from the backing after a level failed to return the block.
    Again,
    /// A read of the requested range from the backing after the backing failed to return whole blocks.
    Wanted,
    /// A host write, trim, or flush passed to the backing, or a flush of a level.
    Through,
    /// A flush of the backing after a write-through.
    Safe,
    /// A host write to a copy in a level.
    Copy,
    /// A write of a whole block that is inserted into a level.
    ComeIn,
    /// A read of a block that moves to a lower level.
    Sink,
    /// A read of a dirty block from its level for its write-back.
    CleanRead,
    /// A write of adjacent dirty blocks to the backing.
    CleanWrite,
    /// A flush of the backing after a batch of write-backs.
    CleanFlush,
    /// A read of a dirty block that is being evicted.
    EvictRead,
    /// A write of an evicted dirty block to the backing.
    EvictWrite,
    /// A flush of the backing after the write-back of an evicted block.
    EvictFlush,
    /// A read of the backing for the host, in addition to a slow read of a level.
    Hedge,
    /// An operation without a device: a join of other operations, or a read whose reply is ignored.
    Wait,
}

/// An operation of the cache on a device. Some operations need no device.
#[derive(Clone, Debug, Value)]
pub(super) struct Operation {
    pub(super) purpose: Purpose,
    /// Index of the device: the number of the level, or the number of levels for the backing.
    pub(super) device: u8,
    /// Level whose copy of `block` the operation accesses, or [`NO_LEVEL`].
    pub(super) level: u8,
    pub(super) is_submitted: bool,
    /// Whether the operation ends without being submitted.
    pub(super) is_skipped: bool,
    /// Whether the copy that the operation accesses has been dropped.
    pub(super) is_broken: bool,
    /// Whether any block that is inserted into the level may take the operation's location, and therefore
    /// waits for the operation.
    lingers: bool,
    pub(super) block: u64,
    /// Number of blocks of an operation on the backing.
    pub(super) blocks: u32,
    /// Next operation in the same chain of the hash table.
    link: u32,
    /// Number of operations that this operation waits for, plus one until it is launched.
    waits: u32,
    /// Operation that supplies the data, or [`NONE`] if the data is available.
    pub(super) source: u32,
    /// Number of the host request's [`Visit`](crate::visit::Visit), of the fetch, or of the batch, depending
    /// on the purpose. For [`Purpose::Alone`], the number of the host request.
    pub(super) owner: u32,
    /// For a read, its hedge; for a hedge, its read; otherwise [`NONE`].
    pub(super) twin: u32,
    /// Time at which the read will be hedged; [`Time::MAX`] if it will not be hedged.
    pub(super) hedged_at: Time,
    /// Stamp of the write that made the block dirty.
    pub(super) stamp: u64,
    /// Location of an evicted block.
    pub(super) location: u64,
    /// Number of operations that were created earlier.
    pub(super) order: u64,
    /// Creation time.
    pub(super) since: Time,
    pub(super) request: Request,
    /// Data to write, or data that a read returns instead of the device's content.
    pub(super) data: Payload,
    /// Operations that wait for this operation, in the order in which they were created.
    pub(super) dependents: Vec<u32>,
    /// Latency breakdown of the operations that preceded this operation in the same request part.
    pub(super) spans: Vec<Span>,
}

impl Default for Operation {
    fn default() -> Operation {
        let request = Request { arrival: Time::ZERO, address: 0, bytes: 0, volume: 0, op: Op::Read };
        Operation {
            purpose: Purpose::Alone,
            device: 0,
            level: NO_LEVEL,
            is_submitted: false,
            is_skipped: false,
            is_broken: false,
            lingers: false,
            block: 0,
            blocks: 1,
            link: NONE,
            waits: 0,
            source: NONE,
            owner: NONE,
            twin: NONE,
            hedged_at: Time::MAX,
            stamp: 0,
            location: 0,
            order: 0,
            since: Time::ZERO,
            request,
            data: Payload::NONE,
            dependents: Vec::new(),
            spans: Vec::new(),
        }
    }
}

impl Operation {
    /// Whether the operation writes dirty blocks to the backing.
    pub(super) fn is_write_back(&self) -> bool {
        matches!(self.purpose, Purpose::CleanWrite | Purpose::EvictWrite)
    }

    /// Whether the operation changes the copy in its level.
    pub(super) fn writes_copy(&self) -> bool {
        matches!(self.purpose, Purpose::Copy | Purpose::ComeIn)
    }

    /// Whether the operation reads a whole copy in its level, for the backing or for another level.
    fn carries_copy(&self) -> bool {
        matches!(self.purpose, Purpose::Rise | Purpose::Sink | Purpose::CleanRead | Purpose::EvictRead)
    }
}

/// All operations in progress, including waiting ones.
#[derive(State)]
pub(super) struct Operations {
    all: Slab<Operation>,
    /// Number of operations created so far.
    created: u64,
    /// Hash table of the operations that access a copy, by level and block. Each entry is the first operation
    /// of a chain.
    #[state(varies)]
    chains: Vec<u32>,
    /// For each level, operations on blocks that have left the level, if any block may take their location.
    #[state(elements_vary)]
    lingering: Vec<Vec<u32>>,
    /// Latest operation in progress that writes each block to the backing.
    writing: Map,
    /// Operations whose waits have ended, in order.
    #[state(skip = "empty between events")]
    ready: VecDeque<u32>,
}

/// Number of chains of the smallest hash table.
const CHAINS_MIN: usize = 64;

fn hash(level: u8, block: u64) -> usize {
    (((block << 3) | u64::from(level)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

impl Operations {
    /// Creates an empty set of operations for `levels` levels.
    pub(super) fn new(levels: usize) -> Operations {
        Operations {
            all: Slab::new(),
            created: 0,
            chains: vec![NONE; CHAINS_MIN],
            lingering: vec![Vec::new(); levels],
            writing: Map::new(),
            ready: VecDeque::new(),
        }
    }

    /// Drops all operations.
    pub(super) fn clear(&mut self) {
        *self = Operations { created: self.created, ..Operations::new(self.lingering.len()) };
    }

    /// Adds an operation with default fields. Returns its number. The operation waits until it is launched.
    pub(super) fn add(&mut self, purpose: Purpose, device: usize, since: Time, request: Request) -> u32 {
        let (number, operation) = self.all.take();
        operation.purpose = purpose;
        operation.device = device as u8;
        operation.level = NO_LEVEL;
        (operation.is_submitted, operation.is_skipped) = (false, false);
        (operation.is_broken, operation.lingers) = (false, false);
        (operation.block, operation.blocks) = (0, 1);
        (operation.link, operation.waits) = (NONE, 1);
        (operation.source, operation.owner) = (NONE, NONE);
        (operation.twin, operation.hedged_at) = (NONE, Time::MAX);
        (operation.stamp, operation.location) = (0, 0);
        (operation.since, operation.request, operation.order) = (since, request, self.created);
        self.created += 1;
        operation.data = Payload::NONE;
        operation.dependents.clear();
        operation.spans.clear();
        number
    }

    /// Registers operation `number` as an access to the copy of `block` in `level`.
    #[inline]
    pub(super) fn touches(&mut self, number: u32, level: usize, block: u64) {
        if self.all.len() * 2 > self.chains.len() {
            self.grow();
        }
        let chain = hash(level as u8, block) & (self.chains.len() - 1);
        let operation = &mut self.all[number];
        (operation.level, operation.block) = (level as u8, block);
        operation.link = self.chains[chain];
        self.chains[chain] = number;
    }

    #[cold]
    fn grow(&mut self) {
        let mut chains = vec![NONE; self.chains.len() * 4];
        let touching = self.all.iter().filter(|(_, of)| of.level != NO_LEVEL);
        let locations: Vec<(u32, usize)> =
            touching.map(|(number, of)| (number, hash(of.level, of.block) & (chains.len() - 1))).collect();
        for (number, chain) in locations {
            self.all[number].link = chains[chain];
            chains[chain] = number;
        }
        self.chains = chains;
    }

    /// Operations that access the copy of `block` in `level`.
    #[inline]
    pub(super) fn touching(&self, level: usize, block: u64) -> impl Iterator<Item = u32> + '_ {
        let mut next = self.chains[hash(level as u8, block) & (self.chains.len() - 1)];
        std::iter::from_fn(move || {
            while next != NONE {
                let (number, of) = (next, &self.all[next]);
                next = of.link;
                if of.block == block && usize::from(of.level) == level {
                    return Some(number);
                }
            }
            None
        })
    }

    /// Operations that write the copy of `block` in `level`.
    pub(super) fn writing_copy(&self, level: usize, block: u64) -> impl Iterator<Item = u32> + '_ {
        self.touching(level, block).filter(|&number| self.all[number].writes_copy())
    }

    /// Operations that a host write to the copy of `block` in `level` waits for. These are writes to the
    /// copy, and reads that transfer the copy to another device and would otherwise mix old and new data.
    pub(super) fn before_copy(&self, level: usize, block: u64) -> impl Iterator<Item = u32> + '_ {
        let comes_before = |of: &Operation| of.writes_copy() || of.carries_copy();
        self.touching(level, block).filter(move |&number| comes_before(&self.all[number]))
    }

    /// Makes operation `number` wait for the end of `on`.
    pub(super) fn depend(&mut self, number: u32, on: u32) {
        debug_assert!(number != on, "an operation waits for itself");
        self.all[on].dependents.push(number);
        self.all[number].waits += 1;
    }

    /// Makes operation `number` wait for the end of all operations in `on`.
    pub(super) fn depend_all(&mut self, number: u32, on: &[u32]) {
        on.iter().for_each(|&on| self.depend(number, on));
    }

    /// Makes operation `number`, an insertion into `level`, wait until its location is free. This is the
    /// location of `instead_of`, or any location that a block has left.
    pub(super) fn depend_on_location(&mut self, number: u32, level: usize, instead_of: Option<u64>) {
        let on: Vec<u32> = match instead_of {
            Some(victim) => self.touching(level, victim).filter(|&on| on != number).collect(),
            None => self.lingering[level].iter().copied().filter(|&on| on != number).collect(),
        };
        self.depend_all(number, &on);
    }

    /// Records that `block` left `level` and that any block may take its location.
    pub(super) fn linger(&mut self, level: usize, block: u64) {
        let on: Vec<u32> = self.touching(level, block).filter(|&number| !self.all[number].lingers).collect();
        for number in on {
            self.all[number].lingers = true;
            self.lingering[level].push(number);
        }
    }

    /// Makes operation `number` the latest write of `blocks` blocks of the backing, starting at `first`. The
    /// operation waits for earlier writes of these blocks.
    pub(super) fn write_backing(&mut self, number: u32, first: u64, blocks: u64) {
        (self.all[number].block, self.all[number].blocks) = (first, blocks as u32);
        for block in first..first + blocks {
            self.depend_on_write(number, block);
            self.writing.set(block, u64::from(number));
        }
    }

    /// Makes operation `number` write a part of the blocks that operation `instead_of` was to write. Earlier
    /// writes of these blocks have ended, and later writes already wait for `instead_of`, so the part waits
    /// for neither.
    pub(super) fn write_backing_instead_of(&mut self, number: u32, instead_of: u32, first: u64, blocks: u64) {
        (self.all[number].block, self.all[number].blocks) = (first, blocks as u32);
        for block in first..first + blocks {
            if self.writing.get(block) == Some(u64::from(instead_of)) {
                self.writing.set(block, u64::from(number));
            }
        }
    }

    /// Makes operation `number` wait for the latest write of `block` to the backing, if it is in progress.
    pub(super) fn depend_on_write(&mut self, number: u32, block: u64) {
        if let Some(on) = self.writing.get(block)
            && on != u64::from(number)
            && !self.all[on as u32].dependents.contains(&number)
        {
            self.depend(number, on as u32);
        }
    }

    /// Whether `block` is being written to the backing.
    pub(super) fn writes_backing(&self, block: u64) -> bool {
        self.writing.get(block).is_some()
    }

    /// Records that the write of operation `number` to the backing has ended.
    pub(super) fn written_backing(&mut self, number: u32) {
        let of = &self.all[number];
        for block in of.block..of.block + u64::from(of.blocks) {
            if self.writing.get(block) == Some(u64::from(number)) {
                self.writing.remove(block);
            }
        }
    }

    /// Launches operation `number`, whose fields are complete. It starts when its wait count reaches zero.
    pub(super) fn launch(&mut self, number: u32) {
        let operation = &mut self.all[number];
        operation.waits -= 1;
        if operation.waits == 0 {
            self.ready.push_back(number);
        }
    }

    /// Removes and returns the next operation to start, if any.
    #[inline]
    pub(super) fn next_ready(&mut self) -> Option<u32> {
        self.ready.pop_front()
    }

    /// Cancels the write of an operation that has not started, because newer data replaces its data.
    pub(super) fn supersede(&mut self, number: u32) {
        let source = std::mem::replace(&mut self.all[number].source, NONE);
        self.all[number].is_skipped = true;
        if source != NONE {
            let dependents = &mut self.all[source].dependents;
            let before = dependents.len();
            dependents.retain(|&dependent| dependent != number);
            let times = before - dependents.len();
            (0..times).for_each(|_| self.launch(number));
        }
    }

    /// Ends an operation. Other operations no longer wait for it, and operations that use it as their source
    /// receive `data`.
    pub(super) fn end(&mut self, number: u32, has_failed: bool, data: impl Fn(u64) -> Payload) {
        let operation = &mut self.all[number];
        if operation.level != NO_LEVEL {
            self.unlink(number);
        }
        let mut dependents = std::mem::take(&mut self.all[number].dependents);
        for &dependent in &dependents {
            let of = &mut self.all[dependent];
            if of.source == number {
                of.source = NONE;
                of.is_skipped |= has_failed;
                of.data = data(of.block);
            }
            self.launch(dependent);
        }
        dependents.clear();
        self.all[number].dependents = dependents;
        self.all.give_back(number);
    }

    #[inline]
    fn unlink(&mut self, number: u32) {
        let Operation { level, block, link, lingers, .. } = self.all[number];
        let chain = hash(level, block) & (self.chains.len() - 1);
        if self.chains[chain] == number {
            self.chains[chain] = link;
        } else {
            let mut at = self.chains[chain];
            while self.all[at].link != number {
                at = self.all[at].link;
            }
            self.all[at].link = link;
        }
        if lingers {
            self.lingering[usize::from(level)].retain(|&other| other != number);
        }
    }

    /// Makes all operations that wait for `from` also wait for the operations in `to`. Operations in `to` are
    /// excluded, because they may wait for `from` themselves.
    pub(super) fn hand_over(&mut self, from: u32, to: &[u32]) {
        let mut dependents = self.all[from].dependents.clone();
        dependents.retain(|dependent| !to.contains(dependent));
        dependents.iter().for_each(|&dependent| self.depend_all(dependent, to));
    }

    /// All operations, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Operation)> {
        self.all.iter()
    }

    /// Panics unless every operation can be found and either waits or was submitted.
    pub(super) fn check_invariants(&self) {
        assert!(self.ready.is_empty(), "an operation could begin");
        for (number, of) in self.all.iter() {
            assert!(of.is_submitted == (of.waits == 0), "operation {number} waits for nothing: {of:?}");
            let level = usize::from(of.level);
            let is_found =
                of.level == NO_LEVEL || self.touching(level, of.block).any(|found| found == number);
            assert!(is_found, "operation {number} is not found: {of:?}");
        }
        let waits: u32 = self.all.iter().map(|(_, of)| of.waits).sum();
        let waited_for: usize = self.all.iter().map(|(_, of)| of.dependents.len()).sum();
        assert_eq!(waits as usize, waited_for, "an operation waits for one that has ended");
        self.writing.check_invariants();
    }
}

impl std::ops::Index<u32> for Operations {
    type Output = Operation;

    #[inline]
    fn index(&self, number: u32) -> &Operation {
        &self.all[number]
    }
}

impl std::ops::IndexMut<u32> for Operations {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut Operation {
        &mut self.all[number]
    }
}
