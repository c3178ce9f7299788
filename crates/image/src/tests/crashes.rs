//! Tests kills at any write and power losses at any time. Reopening the image must restore a prefix of the
//! steps that contains all guaranteed steps: the acknowledged steps after a kill, and the synced steps
//! after a power loss.

use super::toy::{GEOMETRY, IDENTITY, Step, Toy, history, step};
use crate::tape::{Event, Followed};
use crate::{Image, ImageError, Problem};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Offset of the journal in the file.
const JOURNAL_START: usize = crate::superblock::JOURNAL_START as usize;
/// Size of the journal in bytes. It is small, so that a checkpoint is due every 30 steps.
const JOURNAL_BYTES: u64 = 2048;
/// Size in bytes of a record of the toy device.
const RECORD: usize = 24 + 3 + 8;

/// Notes that a test adds between the writes of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note {
    /// A step, counted from 1, is about to be journaled.
    Issued(u64),
    /// The step was acknowledged.
    Acknowledged(u64),
    /// All acknowledged steps were synced.
    Synced,
}

pub(super) type Tape = crate::tape::Tape<Note>;

fn create(tape: &Arc<Tape>) -> Result<Image, ImageError> {
    Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES)
}

fn recover(tape: &Arc<Tape>) -> Result<(Image, Toy), ImageError> {
    let opened = Image::open_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY)?;
    assert!(tape.reel().events.is_empty(), "opening writes nothing");
    let toy = Toy::recovered(&opened);
    Ok((opened.image, toy))
}

/// Runs `steps` with a sync after every `sync` steps, and adds notes to the tape. Returns the first error.
fn run(tape: &Tape, image: &Image, toy: &mut Toy, steps: &[Step], sync: u64) -> Result<(), ImageError> {
    for &step in steps {
        tape.note(Note::Issued(toy.done + 1));
        toy.serve(image, step)?;
        tape.note(Note::Acknowledged(toy.done));
        if toy.done.is_multiple_of(sync) {
            image.sync()?;
            tape.note(Note::Synced);
        }
    }
    Ok(())
}

/// State of the replay of a tape: the content of the file, and the number of steps that must survive.
#[derive(Clone, Default)]
pub(super) struct Replay {
    pub(super) file: Followed,
    issued: u64,
    acknowledged: u64,
    synced: u64,
    created: bool,
}

impl Replay {
    pub(super) fn on(bytes: &[u8], done: u64) -> Replay {
        let (issued, acknowledged, synced) = (done, done, done);
        Replay { file: Followed::of(bytes.to_vec()), issued, acknowledged, synced, created: true }
    }

    pub(super) fn follow(&mut self, event: &Event<Note>) {
        self.file.follow(event);
        match event {
            Event::Noted(Note::Issued(step)) => (self.issued, self.created) = (*step, true),
            Event::Noted(Note::Acknowledged(step)) => self.acknowledged = *step,
            Event::Noted(Note::Synced) => self.synced = self.acknowledged,
            Event::Length(_) | Event::Write(..) | Event::Sync => {}
        }
    }

    /// Returns the file after a power loss.
    pub(super) fn powerless(&self, seed: u64) -> Vec<u8> {
        self.file.powerless(&mut nacre_kernel::Streams::new(seed).stream("sectors"))
    }
}

/// Opens the image in `bytes` and checks that its toy device has performed at least `least` and at most
/// `most` of `steps`. If `created` is false, the image may also be unfinished. In this case, returns
/// `None`.
fn check(bytes: Vec<u8>, steps: &[Step], least: u64, most: u64, created: bool) -> Option<(Arc<Tape>, u64)> {
    let tape = Arc::new(Tape::with(bytes));
    let toy = match recover(&tape) {
        Ok((_, toy)) => toy,
        Err(error) if !created => {
            assert_eq!(error.problem, Problem::Unfinished, "an image not yet created");
            return None;
        }
        Err(error) => panic!("{least}..={most} steps: {error}"),
    };
    assert!((least..=most).contains(&toy.done), "{} steps, expected {least}..={most}", toy.done);
    assert_eq!(toy.contents(), history(steps)[toy.done as usize], "after {} steps", toy.done);
    let done = toy.done;
    Some((tape, done))
}

/// Returns 180 steps, which include every kind of step and cause five checkpoints.
fn steps() -> Vec<Step> {
    let mut random = nacre_kernel::Streams::new(7).stream("steps");
    let mut below = |bound: u64| random.below(bound) as u8;
    let step = |_| match below(8) {
        0..4 => Step::Program(below(40), below(256)),
        4 => Step::Copy(below(40), below(40)),
        5..7 => Step::Erase(below(5) * 8, 8),
        _ => Step::Erase(below(32), 1 + below(8)),
    };
    (0..180).map(step).collect()
}

#[test]
fn a_kill_at_any_write_loses_nothing_acknowledged() {
    let (tape, steps) = (Arc::new(Tape::default()), steps());
    let image = create(&tape).expect("created");
    run(&tape, &image, &mut Toy::new(&image), &steps, 50).expect("nothing fails");
    let events = std::mem::take(&mut tape.reel().events);
    let mut replay = Replay::default();
    let (mut opened, mut checkpoints) = (0, 0);
    for event in &events {
        if let Event::Write(offset, part) = event {
            checkpoints += usize::from(*offset == 0);
            for torn in [0, 1, part.len() / 2, part.len() - 1] {
                let mut file = replay.file.clone();
                file.follow::<Note>(&Event::Write(*offset, part[..torn].to_vec()));
                check(file.bytes, &steps, replay.acknowledged, replay.issued, replay.created);
                opened += 1;
            }
        }
        replay.follow(event);
        check(replay.file.bytes.clone(), &steps, replay.acknowledged, replay.issued, replay.created);
    }
    assert_eq!(checkpoints, 7, "one creation and six checkpoints were torn");
    assert!(opened > 900, "{opened} files were opened");
}

#[test]
fn a_failing_second_superblock_loses_nothing() {
    // After every event, the image is opened twice, with either superblock copy unreadable.
    let (tape, steps) = (Arc::new(Tape::default()), steps());
    let image = create(&tape).expect("created");
    run(&tape, &image, &mut Toy::new(&image), &steps, 50).expect("nothing fails");
    let events = std::mem::take(&mut tape.reel().events);
    let mut replay = Replay::default();
    for event in &events {
        replay.follow(event);
        for slot in [0, 64 << 10].into_iter().filter(|_| replay.created) {
            let mut bytes = replay.file.bytes.clone();
            bytes[slot + 40] ^= 1;
            check(bytes, &steps, replay.acknowledged, replay.issued, true);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn power_failures_one_after_the_other_lose_nothing_synced(
        lives in proptest::collection::vec(
            (proptest::collection::vec(step(), 1..120), 1..20u64, any::<u64>(), any::<proptest::sample::Index>()),
            1..6,
        ),
    ) {
        let (mut tape, mut steps, mut begun) = (Arc::new(Tape::default()), Vec::new(), None);
        create(&tape).expect("created");
        tape.reel().events.clear();
        for (life, sync, seed, moment) in lives {
            let before = tape.reel().bytes.clone();
            let (image, mut toy) = recover(&tape).expect("recovered");
            let done: u64 = *begun.get_or_insert(toy.done);
            prop_assert_eq!(toy.done, done, "a second opening finds the same");
            steps.truncate(done as usize);
            steps.extend(life.iter().copied());
            run(&tape, &image, &mut toy, &life, sync).expect("nothing fails");
            let events = std::mem::take(&mut tape.reel().events);
            let mut replay = Replay::on(&before, done);
            events[..moment.index(events.len() + 1)].iter().for_each(|event| replay.follow(event));
            let bytes = replay.powerless(seed);
            let (_, done) = check(bytes.clone(), &steps, replay.synced, replay.issued, true).expect("created");
            tape = Arc::new(Tape::with(bytes));
            begun = Some(done);
        }
    }

    #[test]
    fn a_full_disk_keeps_what_was_acknowledged_and_the_image_goes_on_with_room(
        life in proptest::collection::vec(step(), 1..120),
        room in 0..20_000usize,
    ) {
        let tape = Arc::new(Tape::default());
        let image = create(&tape).expect("created");
        tape.reel().room = Some(room);
        let mut toy = Toy::new(&image);
        let mut taken = Vec::new();
        for &step in &life {
            tape.note(Note::Issued(toy.done + 1));
            match toy.serve_ahead(&image, step) {
                Ok(()) => taken.push(step),
                Err(error) => {
                    let is_told = matches!(error.problem, Problem::DiskFull { .. });
                    prop_assert!(is_told, "{}", error);
                    // Additional steps would not find space either.
                    break;
                }
            }
            let expected = history(&taken);
            prop_assert_eq!(&toy.contents(), expected.last().expect("the beginning is there"));
        }
        let is_stopped = image.error().is_some();
        let bytes = tape.reel().bytes.clone();
        check(bytes, &life, taken.len() as u64, taken.len() as u64 + 1, true);
        // The run ends if the superblock may be torn. Other failed writes wait for space.
        tape.reel().room = None;
        if !is_stopped {
            for &step in &life[taken.len()..] {
                toy.serve_ahead(&image, step).expect("there is room");
            }
            image.checkpoint(&toy.state()).expect("there is room");
            prop_assert!(!image.is_full());
            let all = life.len() as u64;
            let bytes = tape.reel().bytes.clone();
            check(bytes, &life, all, all, true);
        }
    }
}

/// Returns the offset in the file of the last nonzero byte of the journal.
fn records(tape: &Tape) -> usize {
    let reel = tape.reel();
    let journal = &reel.bytes[JOURNAL_START..JOURNAL_START + JOURNAL_BYTES as usize];
    JOURNAL_START + journal.iter().rposition(|&byte| byte != 0).expect("there are records")
}

#[test]
fn a_record_that_is_missing_is_damage_where_it_was_synced_and_torn_where_it_was_not() {
    let step = |number: u8| Step::Program(number % 40, number);
    for (syncs, opens) in [(true, false), (false, true)] {
        let tape = Arc::new(Tape::default());
        let image = create(&tape).expect("created");
        let mut toy = Toy::new(&image);
        for number in 1..20 {
            toy.serve(&image, step(number)).expect("nothing fails");
            if syncs && number == 15 {
                image.sync().expect("nothing fails");
            }
        }
        let mut bytes = tape.reel().bytes.clone();
        bytes[JOURNAL_START + 9 * RECORD..][..RECORD].fill(0);
        let opened = recover(&Arc::new(Tape::with(bytes)));
        if opens {
            let (_, toy) = opened.expect("none was synced");
            assert_eq!(toy.done, 9);
        } else {
            let error = opened.err().expect("fifteen were synced");
            let text = error.to_string();
            assert!(
                text.contains("it is damaged: its journal at byte")
                    && text.contains("an invalid record before intact ones"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_page_of_the_journal_that_the_machine_lost_before_others_is_torn() {
    // The host wrote the last unsynced sector but not the sectors before it, which are stale.
    let tape = Arc::new(Tape::default());
    let image = create(&tape).expect("created");
    let mut toy = Toy::new(&image);
    (1..6).for_each(|number| toy.serve(&image, Step::Program(number, number)).expect("nothing fails"));
    image.sync().expect("nothing fails");
    let before = tape.reel().bytes.clone();
    (6..28).for_each(|number| toy.serve(&image, Step::Program(number, number)).expect("nothing fails"));
    let last = records(&tape);
    let mut bytes = tape.reel().bytes.clone();
    let lost = JOURNAL_START + 5 * RECORD..last - 100;
    bytes[lost.clone()].copy_from_slice(&before[lost]);
    let (_, toy) = recover(&Arc::new(Tape::with(bytes))).expect("nothing that was synced is missing");
    assert_eq!(toy.done, 5);
}

#[test]
fn bytes_that_look_like_a_record_are_none() {
    // A program stores the content of a journal, i.e. the same bytes at another offset.
    let tape = Arc::new(Tape::default());
    let image = create(&tape).expect("created");
    image.append(b"abc").expect("nothing fails");
    image.sync().expect("nothing fails");
    image.append(b"def").expect("nothing fails");
    let journal = tape.reel().bytes[JOURNAL_START + RECORD..JOURNAL_START + 2 * RECORD].to_vec();
    let other = Arc::new(Tape::default());
    let image = create(&other).expect("created");
    image.append(&journal).expect("nothing fails");
    let mut bytes = other.reel().bytes.clone();
    // Neither end of the record was written.
    bytes[JOURNAL_START..][..24].fill(0);
    bytes[JOURNAL_START + 24 + RECORD..][..8].fill(0);
    let opened = Image::open_on(Arc::new(Tape::with(bytes)), Path::new("tape"), IDENTITY, GEOMETRY);
    assert_eq!(opened.expect("its only record is torn").records.count(), 0);
}

#[test]
fn a_torn_record_is_not_made_whole_by_another_one_in_its_place() {
    // A program repeats the write from before the first power loss, and the second power loss loses the head
    // of the record.
    const SECTOR: usize = 512;
    let tape = Arc::new(Tape::default());
    create(&tape).expect("created").append(&[7; 900]).expect("nothing fails");
    let mut torn = tape.reel().bytes.clone();
    torn[JOURNAL_START + SECTOR..][..SECTOR].fill(0);
    let tape = Arc::new(Tape::with(torn.clone()));
    let opened = Image::open_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY).expect("it is torn");
    assert_eq!((opened.records.count(), opened.torn), (0, true));
    opened.image.append(&[7; 901]).expect("nothing fails");
    let reel = tape.reel();
    let mut synced = Followed::of(torn);
    let upto = reel.events.iter().rposition(|event| matches!(event, Event::Sync)).expect("it was synced");
    reel.events[..upto].iter().for_each(|event| synced.follow(event));
    let mut bytes = reel.bytes.clone();
    let head = JOURNAL_START..JOURNAL_START + SECTOR;
    bytes[head.clone()].copy_from_slice(&synced.bytes[head]);
    let opened = Image::open_on(Arc::new(Tape::with(bytes)), Path::new("tape"), IDENTITY, GEOMETRY);
    assert_eq!(opened.expect("nothing was synced").records.count(), 0);
}

#[test]
fn after_any_failed_write_or_sync_nothing_is_written_and_what_was_acknowledged_is_there() {
    let steps = &steps()[..70];
    let mut failed = 0;
    for failing in 1.. {
        let tape = Arc::new(Tape::default());
        tape.reel().failing = Some(failing);
        let Ok(image) = create(&tape) else {
            failed += 1;
            continue;
        };
        let mut toy = Toy::new(&image);
        // A failed write of a page in the last step is reported by `error`.
        let Some(error) = run(&tape, &image, &mut toy, steps, 9).err().or_else(|| image.error()) else {
            assert!(tape.reel().operations < failing, "operation {failing} failed and was not reported");
            break;
        };
        assert!(matches!(error.problem, Problem::Io { .. }), "operation {failing}: {error}");
        failed += 1;
        let before = tape.reel().bytes.clone();
        assert!(image.append(b"more").is_err() && image.sync().is_err() && image.checkpoint(b"").is_err());
        assert!(tape.reel().bytes == before, "operation {failing}: something was written after the failure");
        let mut replay = Replay::default();
        tape.reel().events.iter().for_each(|event| replay.follow(event));
        check(before, steps, replay.acknowledged, replay.issued, true);
    }
    assert!(failed > 100, "{failed} operations failed");
}
