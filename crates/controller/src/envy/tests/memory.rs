//! Compares the data of the device with the data of a plain memory after the same operations.

use super::{TINY, device};
use crate::cleaning::{Cleaner, Decision, View};
use crate::envy::array::Programs;
use crate::envy::model::Envy;
use crate::envy::write_buffer::SlotState;
use crate::workbench::ask;
use nacre_kernel::event::{Completions, Device, Payload};
use nacre_kernel::state::{State, StateReader, StateWriter};
use nacre_kernel::{Op, Random, Refused, Request, Streams, Time, Transactions};
use nacre_testkit::SharedStore;

/// An operation on the device and on the plain memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Writes `bytes` bytes to page `page`, starting at `offset`.
    Write {
        page: u64,
        offset: u64,
        bytes: u64,
    },
    Idle(Time),
    PowerFails,
    Begin,
    Commit,
    Abort,
    Restart,
}

/// A policy that cleans the segment with the fewest valid pages and moves `pages` pages to and from each
/// neighboring partition.
#[derive(Clone, State)]
struct Exchanging {
    #[state(same)]
    partition: Option<u32>,
    #[state(same)]
    pages: u32,
}

impl Cleaner for Exchanging {
    fn partition_segments(&self) -> Option<u32> {
        self.partition
    }

    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let victim = view.places_of(partition).min_by_key(|&position| view.places[position].live);
        let victim = victim.expect("a partition has positions");
        let pages = self.pages;
        Decision { victim, to_lower: pages, to_higher: pages, from_lower: pages, from_higher: pages }
    }
}

/// A device, and a plain memory with the expected data.
pub(super) struct Pair {
    pub(super) envy: Envy<SharedStore>,
    settings: String,
    store: SharedStore,
    cleaner: Exchanging,
    pub(super) now: Time,
    bytes: Vec<u8>,
    /// Content of the plain memory at the start of the open transaction, if any.
    before: Option<Vec<u8>>,
    /// A counter that gives every write different data.
    stamp: u8,
}

impl Pair {
    pub(super) fn new(settings: &str, partition: Option<u32>) -> Pair {
        Pair::exchanging(settings, Exchanging { partition, pages: 0 })
    }

    fn exchanging(settings: &str, cleaner: Exchanging) -> Pair {
        let store = SharedStore::new(8);
        let envy = device(settings, store.clone(), cleaner.clone());
        let bytes = vec![0; envy.capacity().unwrap().0 as usize];
        let settings = settings.to_string();
        Pair { envy, settings, store, cleaner, now: Time::ZERO, bytes, before: None, stamp: 0 }
    }

    pub(super) fn step(&mut self, step: Step) {
        let done = match step {
            Step::Write { page, offset, bytes } => self.write(page * 8 + offset, bytes),
            Step::Idle(time) => Some(self.now + time),
            Step::PowerFails => {
                self.envy.power_fail(self.now, &mut Streams::new(1).stream("chance"));
                self.bytes = self.before.take().unwrap_or_else(|| std::mem::take(&mut self.bytes));
                Some(self.envy.recover(self.now).done)
            }
            Step::Begin => {
                let begun = self.envy.begin(self.now);
                assert_eq!(begun.is_err(), self.before.is_some(), "one transaction at a time");
                self.before.get_or_insert_with(|| self.bytes.clone());
                begun.ok().map(|begun| begun.done)
            }
            Step::Commit => {
                let committed = self.envy.commit(self.now);
                assert_eq!(committed.is_ok(), self.before.take().is_some(), "only what is open is committed");
                committed.ok().map(|committed| committed.done)
            }
            Step::Abort => {
                let aborted = self.envy.abort(self.now);
                assert_eq!(aborted.is_ok(), self.before.is_some(), "only what is open is aborted");
                self.bytes = self.before.take().unwrap_or_else(|| std::mem::take(&mut self.bytes));
                aborted.ok().map(|aborted| aborted.done)
            }
            Step::Restart => {
                self.restart();
                None
            }
        };
        let done = done.unwrap_or(self.now);
        assert!(done >= self.now, "{step:?} is done before it was asked");
        self.now = done;
        self.run();
    }

    fn run(&mut self) {
        let mut completions = Completions::new();
        self.envy.run(self.now, &mut completions);
        assert!(completions.is_empty(), "nothing is outstanding");
    }

    fn write(&mut self, address: u64, bytes: u64) -> Option<Time> {
        self.stamp = self.stamp.wrapping_add(1);
        let end = (address + bytes).min(self.bytes.len() as u64);
        let range = address as usize..end as usize;
        let data = vec![self.stamp; range.len()];
        let checked = Transactions::check(&self.envy, address, data.len() as u64);
        match checked.map(|()| self.submit(Op::Write, address, data.len(), data.clone().into())) {
            Ok((done, _)) => {
                self.bytes[range].copy_from_slice(&data);
                Some(done)
            }
            Err(refused) => {
                assert!(matches!(refused, Refused::TransactionTooLarge { .. }), "{refused:?}");
                assert!(self.before.is_some(), "without a transaction nothing is refused");
                None
            }
        }
    }

    fn submit(&mut self, op: Op, address: u64, bytes: usize, data: Payload) -> (Time, Payload) {
        let request = Request { arrival: self.now, address, bytes: bytes as u32, volume: 0, op };
        let answer = ask(&mut self.envy, self.now, &request, data);
        (answer.done, answer.data)
    }

    /// Simulates a restart of the process: saves the state, and restores it in a new device.
    fn restart(&mut self) {
        let mut writer = StateWriter::new();
        self.envy.save(&mut writer);
        let state = writer.finish();
        self.envy = device(&self.settings, self.store.clone(), self.cleaner.clone());
        let mut reader = StateReader::new(&state);
        self.envy.restore(&mut reader).unwrap();
        reader.finish().unwrap();
    }

    pub(super) fn check(&mut self) {
        self.envy.check_invariants();
        let (done, read) = self.submit(Op::Read, 0, self.bytes.len(), Payload::NONE);
        assert!(read.bytes() == Some(&self.bytes), "the bytes of the device and of the naive memory");
        self.now = done;
    }
}

/// Tests all sequences of four or five steps, starting with full segments and pages in the buffer.
#[test]
fn every_short_sequence_on_a_small_array_leaves_the_bytes_of_a_naive_memory() {
    let steps = [
        Step::Write { page: 0, offset: 2, bytes: 4 },
        Step::Write { page: 9, offset: 4, bytes: 12 },
        Step::Write { page: 17, offset: 0, bytes: 8 },
        // The time is enough to program one or two pages, but not to erase.
        Step::Idle(Time::from_us(9)),
        Step::Idle(Time::from_ms(60)),
        Step::PowerFails,
        Step::Begin,
        Step::Commit,
        Step::Abort,
    ];
    for (partition, length) in [(None, 5), (Some(1), 4), (Some(2), 4)] {
        for sequence in 0..steps.len().pow(length) {
            let mut pair = Pair::new(TINY, partition);
            for page in (0..20).chain([3, 11, 19, 4, 12, 20]) {
                pair.step(Step::Write { page, offset: 0, bytes: 8 });
            }
            let mut rest = sequence;
            for _ in 0..length {
                pair.step(steps[rest % steps.len()]);
                rest /= steps.len();
            }
            pair.check();
        }
    }
}

/// Tests long sequences of all kinds of steps on arrays of several shapes.
#[test]
fn long_random_sequences_leave_the_bytes_of_a_naive_memory() {
    let shapes = [
        (TINY.to_string(), None, 0),
        (format!("{TINY}wear_swap_gap = 2\n"), Some(1), 0),
        (format!("{TINY}wear_swap_gap = 2\n"), Some(1), 2),
        (TINY.replace("87.5", "75") + "spare_segments = 2\nconcurrency = 2\n", Some(2), 1),
        (TINY.replace("segments = 4", "segments = 16") + "concurrency = 4\nwear_swap_gap = 3\n", Some(4), 3),
        (
            TINY.replace("segments = 4", "segments = 16").replace("banks = 4", "banks = 8")
                + "spare_segments = 3\nconcurrency = 8\n",
            Some(2),
            2,
        ),
    ];
    let (mut seen, mut moved_in) = (Programs::default(), 0);
    for (shape, (settings, partition, pages)) in shapes.iter().enumerate() {
        for seed in 0..20 {
            let mut random = Streams::new(seed).stream(&format!("shape {shape}"));
            let cleaner = Exchanging { partition: *partition, pages: *pages };
            let mut pair = Pair::exchanging(settings, cleaner);
            for number in 0..1500 {
                let step = random_step(&mut random, pair.bytes.len() as u64 / 8);
                pair.step(step);
                if number % 50 == 0 {
                    pair.check();
                }
            }
            pair.check();
            moved_in += pair.envy.array.partitions.iter().map(|partition| partition.moved_in).sum::<u64>();
            let Programs { cleanings, swaps, lost, .. } = pair.envy.array.programs;
            (seen.cleanings, seen.swaps, seen.lost) =
                (seen.cleanings + cleanings, seen.swaps + swaps, seen.lost + lost);
        }
    }
    // Coverage: every kind of event must have occurred many times.
    assert!(seen.cleanings > 1000 && seen.swaps > 100 && seen.lost > 100, "{seen:?}");
    assert!(moved_in > 1000, "{moved_in} pages went to other partitions");
}

fn random_step(random: &mut Random, pages: u64) -> Step {
    match random.below(40) {
        0 => Step::PowerFails,
        1 => Step::Begin,
        2 => Step::Commit,
        3 => Step::Abort,
        4 => Step::Restart,
        5 => Step::Idle(Time::from_ms(random.below(200))),
        6..=12 => Step::Idle(Time::from_ns(random.below(20_000))),
        _ => {
            // Half of the writes go to 1/8 of the pages.
            let pages = if random.chance(0.5) { pages.div_ceil(8) } else { pages };
            let page = random.below(pages);
            Step::Write { page, offset: random.below(8), bytes: 1 + random.below(20) }
        }
    }
}

#[test]
fn a_transaction_that_does_not_fit_is_refused_and_nothing_has_changed() {
    let mut pair = Pair::new(TINY, None);
    pair.step(Step::Begin);
    // A transaction may use two of the four slots. Pages that were never written need one slot each.
    pair.step(Step::Write { page: 0, offset: 0, bytes: 16 });
    let refused = Transactions::check(&pair.envy, 16, 8);
    assert_eq!(refused, Err(Refused::TransactionTooLarge { pages: 1 }));
    pair.check();
    pair.step(Step::Abort);
    pair.check();
    assert!(pair.bytes.iter().all(|&byte| byte == 0), "nothing was written");
}

/// After an abort, the released slots of a transaction are between other slots in the queue. The next
/// transaction can use these slots.
#[test]
fn slots_that_hold_nothing_any_more_are_room_for_a_transaction() {
    let write = |page| Step::Write { page, offset: 0, bytes: 8 };
    let mut pair = Pair::new(TINY, None);
    for step in
        [write(0), write(1), Step::Begin, write(2), write(3), Step::Abort, Step::Idle(Time::from_ms(60))]
    {
        pair.step(step);
    }
    // The last dirty page is drained for the second of these versions, and released slots precede it.
    for step in [Step::Begin, write(1), Step::Abort, Step::Begin, write(1)] {
        pair.step(step);
    }
    assert_eq!(pair.envy.buffer.count(SlotState::Released), 3, "the rest of the buffer");
    pair.step(write(2));
    pair.check();
    pair.step(Step::Commit);
    pair.check();
}
