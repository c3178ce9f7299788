//! Killed at any write, powerless at any moment: what comes back is a prefix with everything acknowledged.

use super::tape::{Event, Tape, write};
use super::toy::{GEOMETRY, IDENTITY, Step, Toy, history, step};
use crate::{Image, ImageError, Problem};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// So small that a checkpoint is due every 54 steps.
const JOURNAL_BYTES: u64 = 2048;
/// A disk writes sectors whole.
const SECTOR: usize = 512;

fn create(tape: &Arc<Tape>) -> Result<Image, ImageError> {
    Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, JOURNAL_BYTES)
}

fn recover(tape: &Arc<Tape>) -> Result<(Image, Toy), ImageError> {
    let opened = Image::open_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY)?;
    assert!(tape.reel().events.is_empty(), "opening writes nothing");
    let toy = Toy::recovered(&opened);
    Ok((opened.image, toy))
}

/// Takes `steps`, syncing after every `sync`th, with notes of it on the tape.
fn run(tape: &Tape, image: &Image, toy: &mut Toy, steps: &[Step], sync: u64) -> Result<(), ImageError> {
    for &step in steps {
        tape.note(Event::Issued(toy.done + 1));
        toy.serve(image, step)?;
        tape.note(Event::Acknowledged(toy.done));
        if toy.done.is_multiple_of(sync) {
            image.sync()?;
            tape.note(Event::Synced);
        }
    }
    Ok(())
}

/// Follows a tape: what the file holds after its events, and what was promised by then.
#[derive(Clone, Default)]
struct Replay {
    bytes: Vec<u8>,
    /// The file as of the last sync, and the writes since.
    durable: Vec<u8>,
    pending: Vec<(u64, Vec<u8>)>,
    issued: u64,
    acknowledged: u64,
    synced: u64,
    created: bool,
}

impl Replay {
    fn on(bytes: &[u8], done: u64) -> Replay {
        let (bytes, durable) = (bytes.to_vec(), bytes.to_vec());
        let (issued, acknowledged, synced) = (done, done, done);
        Replay { bytes, durable, issued, acknowledged, synced, created: true, pending: Vec::new() }
    }

    fn follow(&mut self, event: &Event) {
        match event {
            // Nothing is promised of a length alone before it is synced, but a file system keeps it in order.
            Event::Length(length) => {
                self.bytes.resize(*length as usize, 0);
                self.durable.resize(*length as usize, 0);
            }
            Event::Write(offset, part) => {
                write(&mut self.bytes, *offset, part);
                self.pending.push((*offset, part.clone()));
            }
            Event::Sync => {
                self.durable.clone_from(&self.bytes);
                self.pending.clear();
            }
            Event::Issued(step) => (self.issued, self.created) = (*step, true),
            Event::Acknowledged(step) => self.acknowledged = *step,
            Event::Synced => self.synced = self.acknowledged,
        }
    }

    /// The file after a power failure: of what was not synced, each sector may be there or not.
    fn powerless(&self, seed: u64) -> Vec<u8> {
        let mut random = nacre_kernel::Streams::new(seed).stream("sectors");
        let (mut bytes, kept) = (self.durable.clone(), random.unit());
        for (offset, part) in &self.pending {
            let mut at = 0;
            while at < part.len() {
                let sector = SECTOR - (*offset as usize + at) % SECTOR;
                let end = part.len().min(at + sector);
                if random.chance(kept) {
                    write(&mut bytes, offset + at as u64, &part[at..end]);
                }
                at = end;
            }
        }
        bytes
    }
}

/// Opens `bytes` and checks that the toy in it took at least `least` and at most `most` steps of `steps`.
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

/// 180 steps of every kind, with three checkpoints.
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
                let mut bytes = replay.bytes.clone();
                write(&mut bytes, *offset, &part[..torn]);
                check(bytes, &steps, replay.acknowledged, replay.issued, replay.created);
                opened += 1;
            }
        }
        replay.follow(event);
        check(replay.bytes.clone(), &steps, replay.acknowledged, replay.issued, replay.created);
    }
    assert_eq!(checkpoints, 4, "one creation and three checkpoints were torn");
    assert!(opened > 900, "{opened} files were opened");
}

#[test]
fn a_failing_second_superblock_loses_nothing() {
    // After every event, with either copy unreadable.
    let (tape, steps) = (Arc::new(Tape::default()), steps());
    let image = create(&tape).expect("created");
    run(&tape, &image, &mut Toy::new(&image), &steps, 50).expect("nothing fails");
    let events = std::mem::take(&mut tape.reel().events);
    let mut replay = Replay::default();
    for event in &events {
        replay.follow(event);
        for slot in [0, 64 << 10].into_iter().filter(|_| replay.created) {
            let mut bytes = replay.bytes.clone();
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
    fn a_full_disk_stops_the_image_and_keeps_what_was_acknowledged(
        life in proptest::collection::vec(step(), 1..120),
        room in 0..20_000usize,
    ) {
        let tape = Arc::new(Tape::default());
        let image = create(&tape).expect("created");
        tape.reel().room = Some(room);
        let mut toy = Toy::new(&image);
        let ended = run(&tape, &image, &mut toy, &life, 1000);
        // A page that found no room is known at the next record.
        let more = ended.is_ok();
        let told = match ended { Err(error) => Some(error), Ok(()) => image.append(&[0, 0, 0]).err() };
        let error = image.error();
        prop_assert_eq!(&told, &error);
        if let Some(error) = &error {
            prop_assert!(matches!(error.problem, Problem::DiskFull { .. }), "{}", error);
            tape.reel().room = None;
            let events = tape.reel().events.len();
            toy.apply(Step::Program(3, 3));
            prop_assert_eq!(image.sync().err(), Some(error.clone()));
            prop_assert_eq!(image.checkpoint(&[]).err(), Some(error.clone()));
            prop_assert_eq!(tape.reel().events.len(), events, "nothing is written any more");
        }
        let mut replay = Replay::on(&[], 0);
        let reel = tape.reel();
        reel.events.iter().for_each(|event| replay.follow(event));
        let (bytes, extra) = (reel.bytes.clone(), u64::from(error.is_none()));
        // The last record, torn, is whole after all when only zeros are missing.
        let most = replay.issued + u64::from(more);
        let steps = [life, vec![Step::Program(0, 0)]].concat();
        check(bytes, &steps, replay.acknowledged + extra, most, true);
    }
}
