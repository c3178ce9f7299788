//! Compares the store in memory with a reference that has one buffer per page.

use super::{Memory, Store};
use proptest::prelude::*;
use std::collections::BTreeMap;

const PAGE: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    Program(u64, u8),
    Copy(u64, u64),
    Erase(u64, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Pages near the boundaries of chunks, and a distant page.
    let page = prop_oneof![0..140u64, Just(1 << 40)];
    let step = prop_oneof![
        (page.clone(), any::<u8>()).prop_map(|(page, byte)| Step::Program(page, byte)),
        (page.clone(), page.clone()).prop_map(|(from, to)| Step::Copy(from, to)),
        (page, 0..200u64).prop_map(|(first, count)| Step::Erase(first, count)),
    ];
    proptest::collection::vec(step, 0..80)
}

proptest! {
    #[test]
    fn every_page_holds_what_was_last_done_to_it(steps in steps()) {
        let mut memory = Memory::new(PAGE);
        let mut pages: BTreeMap<u64, [u8; PAGE]> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Program(page, byte) => {
                    memory.program(page, &[byte, 1, 2, 3]);
                    pages.insert(page, [byte, 1, 2, 3]);
                }
                Step::Copy(from, to) => {
                    memory.copy(from, to);
                    match pages.get(&from).copied() {
                        Some(bytes) => pages.insert(to, bytes),
                        None => pages.remove(&to),
                    };
                }
                Step::Erase(first, count) => {
                    memory.erase(first, count);
                    pages.retain(|&page, _| !(first..first + count).contains(&page));
                }
            }
        }
        for page in (0..400).chain([1 << 40]) {
            let mut found = [0; PAGE];
            memory.read(page, 0, &mut found);
            prop_assert_eq!(found, pages.get(&page).copied().unwrap_or([0xFF; PAGE]), "page {}", page);
        }
    }
}

#[test]
fn a_part_of_a_page_is_read_from_its_offset() {
    let mut memory = Memory::new(PAGE);
    memory.program(65, &[10, 11, 12, 13]);
    let mut part = [0; 2];
    memory.read(65, 1, &mut part);
    assert_eq!(part, [11, 12]);
}
