//! A toy device that programs and erases pages and counts its steps.

use crate::{Geometry, Image, ImageError, ImageStore, Opened};
use nacre_kernel::state::{StateReader, StateWriter};
use nacre_media::store::Store;
use proptest::prelude::*;

pub(super) const PAGE: usize = 16;
pub(super) const PAGES: u64 = 40;
pub(super) const GEOMETRY: Geometry =
    Geometry { page_bytes: PAGE as u32, pages_per_extent: 8, pages: PAGES, raw_bytes: 0 };
pub(super) const IDENTITY: &str = "device = toy\npages = 40";

/// Content of every page.
pub(super) type Contents = Vec<[u8; PAGE]>;

/// An operation of the toy device.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Fills a page (first value) with a byte (second value), even if the page is not erased.
    Program(u8, u8),
    Copy(u8, u8),
    /// Erases pages, given as the first page and the number of pages: a whole extent or a part of extents.
    Erase(u8, u8),
}

/// Returns a random step. Erase blocks of the toy device start at multiples of 8.
pub(super) fn step() -> impl Strategy<Value = Step> {
    let page = 0..PAGES as u8;
    prop_oneof![
        5 => (page.clone(), any::<u8>()).prop_map(|(page, byte)| Step::Program(page, byte)),
        2 => (page.clone(), page.clone()).prop_map(|(from, to)| Step::Copy(from, to)),
        2 => (0..PAGES as u8 / 8).prop_map(|block| Step::Erase(block * 8, 8)),
        1 => (page, 1..20u8).prop_map(|(first, count)| Step::Erase(first, count.min(PAGES as u8 - first))),
    ]
}

impl Step {
    pub(super) fn record(self) -> [u8; 3] {
        match self {
            Step::Program(page, byte) => [0, page, byte],
            Step::Copy(from, to) => [1, from, to],
            Step::Erase(first, count) => [2, first, count],
        }
    }

    fn read(record: &[u8]) -> Step {
        match *record {
            [0, page, byte] => Step::Program(page, byte),
            [1, from, to] => Step::Copy(from, to),
            [2, first, count] => Step::Erase(first, count),
            _ => panic!("no record of the toy: {record:?}"),
        }
    }

    /// Applies the step to a simple model of the pages.
    pub(super) fn on(self, contents: &mut Contents) {
        match self {
            Step::Program(page, byte) => contents[usize::from(page)] = [byte; PAGE],
            Step::Copy(from, to) => contents[usize::from(to)] = contents[usize::from(from)],
            Step::Erase(first, count) => {
                contents[usize::from(first)..usize::from(first) + usize::from(count)].fill([0xFF; PAGE]);
            }
        }
    }
}

/// Returns the page contents before the first step and after each step.
pub(super) fn history(steps: &[Step]) -> Vec<Contents> {
    let mut contents = vec![[0xFF; PAGE]; PAGES as usize];
    let mut history = vec![contents.clone()];
    for step in steps {
        step.on(&mut contents);
        history.push(contents.clone());
    }
    history
}

/// A toy device for tests.
pub(super) struct Toy {
    store: ImageStore,
    /// Number of steps that the device has performed since it was new.
    pub(super) done: u64,
}

impl Toy {
    pub(super) fn new(image: &Image) -> Toy {
        Toy { store: image.store(), done: 0 }
    }

    /// Returns the device in an image after replaying all records.
    pub(super) fn recovered(opened: &Opened) -> Toy {
        let mut toy = Toy::new(&opened.image);
        if let Some(state) = &opened.state {
            let mut state = StateReader::new(state);
            toy.done = state.u64("steps").expect("a state of the toy");
            state.finish().expect("nothing else is in it");
        }
        opened.records.iter().for_each(|record| toy.apply(Step::read(record)));
        toy
    }

    pub(super) fn apply(&mut self, step: Step) {
        match step {
            Step::Program(page, byte) => self.store.program(page.into(), &[byte; PAGE]),
            Step::Copy(from, to) => self.store.copy(from.into(), to.into()),
            Step::Erase(first, count) => self.store.erase(first.into(), count.into()),
        }
        self.done += 1;
    }

    pub(super) fn state(&self) -> Vec<u8> {
        let mut state = StateWriter::new();
        state.put_u64(self.done);
        state.finish()
    }

    /// Performs and journals a step. If a checkpoint is due, writes the checkpoint first.
    pub(super) fn serve(&mut self, image: &Image, step: Step) -> Result<(), ImageError> {
        if image.wants_checkpoint() {
            image.checkpoint(&self.state())?;
        }
        // Pages may be written before or after the journal record.
        if self.done.is_multiple_of(2) {
            self.apply(step);
            image.append(&step.record())
        } else {
            image.append(&step.record())?;
            self.apply(step);
            Ok(())
        }
    }

    /// Journals a step and then performs it, so that a step that cannot be journaled is not performed.
    pub(super) fn serve_ahead(&mut self, image: &Image, step: Step) -> Result<(), ImageError> {
        if image.wants_checkpoint() {
            image.checkpoint(&self.state())?;
        }
        image.append(&step.record())?;
        self.apply(step);
        Ok(())
    }

    pub(super) fn contents(&self) -> Contents {
        let page = |page| {
            let mut bytes = [0; PAGE];
            self.store.read(page, 0, &mut bytes);
            bytes
        };
        (0..PAGES).map(page).collect()
    }
}
