//! Tests properties of images with random steps, checkpoints, reopenings, and damage, and the amount of
//! file space that is used.

use super::crashes::Tape;
use super::toy::{GEOMETRY, IDENTITY, Step, Toy, history, step};
use crate::space::Space;
use crate::{Image, Problem};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// An action on an image in a random test.
#[derive(Clone, Copy, Debug)]
enum Action {
    Step(Step),
    Checkpoint,
    Reopen,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![12 => step().prop_map(Action::Step), 1 => Just(Action::Checkpoint), 1 => Just(Action::Reopen)]
}

fn open(bytes: Vec<u8>) -> Result<(Image, Toy, Arc<Tape>), crate::ImageError> {
    let tape = Arc::new(Tape::with(bytes));
    let opened = Image::open_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY)?;
    let toy = Toy::recovered(&opened);
    Ok((opened.image, toy, tape))
}

fn create() -> (Image, Toy, Arc<Tape>) {
    let tape = Arc::new(Tape::default());
    let image = Image::create_on(tape.clone(), Path::new("tape"), IDENTITY, GEOMETRY, 4096).expect("created");
    let toy = Toy::new(&image);
    (image, toy, tape)
}

/// Returns the file after these actions.
fn play(actions: &[Action]) -> Vec<u8> {
    let (mut image, mut toy, mut tape) = create();
    for action in actions {
        match action {
            Action::Step(step) => toy.serve(&image, *step).expect("served"),
            Action::Checkpoint => image.checkpoint(&toy.state()).expect("checkpoint"),
            Action::Reopen => {
                let bytes = tape.reel().bytes.clone();
                (image, toy, tape) = open(bytes).expect("opened");
            }
        }
    }
    let reel = tape.reel();
    reel.bytes.clone()
}

fn steps(actions: &[Action]) -> Vec<Step> {
    let step = |action: &Action| if let Action::Step(step) = action { Some(*step) } else { None };
    actions.iter().filter_map(step).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_device_in_an_image_is_the_device_in_memory(actions in proptest::collection::vec(action(), 0..300)) {
        let (_, toy, _) = open(play(&actions)).expect("opened");
        let history = history(&steps(&actions));
        prop_assert_eq!(toy.done as usize + 1, history.len());
        prop_assert_eq!(&toy.contents(), history.last().expect("the beginning is there"));
    }

    #[test]
    fn a_changed_byte_is_refused_or_cuts_the_journal_off(
        actions in proptest::collection::vec(action(), 1..100),
        place in any::<proptest::sample::Index>(),
        flip in 1..=255u8,
    ) {
        let mut bytes = play(&actions);
        // Offsets of the superblocks, the journal, and all other data except the pages of the toy device,
        // which have no checksums.
        let checked: Vec<usize> = (0..400).chain((64 << 10)..(64 << 10) + 400).chain(128 << 10..132 << 10).collect();
        bytes[checked[place.index(checked.len())]] ^= flip;
        // One copy of the superblock suffices, so only damaged records may be missing.
        let (_, toy, _) = match open(bytes) {
            Ok(opened) => opened,
            Err(error) => {
                let is_told = matches!(error.problem, Problem::Damaged { part: "its journal", .. });
                prop_assert!(is_told, "{}", error);
                return Ok(());
            }
        };
        let history = history(&steps(&actions));
        prop_assert_eq!(&toy.contents(), &history[toy.done as usize]);
    }

    #[test]
    fn room_is_given_out_once_and_taken_back(
        actions in proptest::collection::vec((any::<bool>(), 1..40_000u64, any::<proptest::sample::Index>()), 0..60),
    ) {
        let mut space = Space::from(8192);
        let mut used: Vec<(u64, u64)> = Vec::new();
        for (take, bytes, which) in actions {
            if take || used.is_empty() {
                let offset = space.take(bytes);
                prop_assert!(offset >= 8192 && offset.is_multiple_of(4096), "{}", offset);
                let apart = |&(other, size): &(u64, u64)| offset >= other + size || other >= offset + bytes;
                prop_assert!(used.iter().all(apart), "{} bytes at {} in {:?}", bytes, offset, used);
                prop_assert!(!space.clone().claim(offset, 1), "it is in use");
                used.push((offset, bytes));
            } else {
                let (offset, bytes) = used.swap_remove(which.index(used.len()));
                space.give(offset, bytes);
            }
        }
        used.drain(..).for_each(|(offset, bytes)| space.give(offset, bytes));
        prop_assert_eq!(space.take(1 << 40), 8192, "everything is one room again");
    }
}

#[test]
fn a_file_does_not_grow_for_ever() {
    // Blocks are erased and programmed again, with checkpoints. The file needs at most twice the size of the
    // toy device and two checkpoints.
    let (image, mut toy, tape) = create();
    for round in 0..1000u32 {
        let block = (round % 5) as u8 * 8;
        toy.serve(&image, Step::Erase(block, 8)).expect("served");
        toy.serve(&image, Step::Program(block, round as u8)).expect("served");
    }
    let units = (tape.reel().bytes.len() - (132 << 10)) / 4096;
    assert!(units <= 2 * 5 + 2, "{units} units of 4 KiB");
}
