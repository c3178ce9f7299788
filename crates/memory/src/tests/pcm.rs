//! Tests of memory that is written in place: kills, power losses, and images of a phase-change-memory drive.

use super::{Folder, NoFiles};
use crate::memory::Memory;
use crate::{MemoryError, check};
use nacre_kernel::{Streams, Time};
use nacre_machine::{Checked, Document};

const DRIVE: &str = "[stack]\nkind = \"onyx\"\ncontrollers = 2\nranks = 2\nrow_ranks = 2\nchip = \"4 KiB\"\n\
    row = \"1 KiB\"\nbuffered_writes = 4\n\
    wear_leveling = { kind = \"start_gap\", interval = 2, domains = 2, randomize = true }\n";
/// Settings with stored energy for only six programs on five chips.
const SHORT: &str = "program_energy = \"1 uJ\"\ncapacitors = \"30 uJ\"\nmay_lose_writes = true\n";

fn drive(settings: &str) -> Checked {
    let text = format!("{DRIVE}{settings}");
    check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None }).expect("legal")
}

fn open(folder: &Folder, settings: &str) -> Memory {
    Memory::open_image(&drive(settings), &NoFiles, &folder.0.join("x.nacre"), true).unwrap()
}

fn bytes(memory: &mut Memory) -> Vec<u8> {
    memory.read(0, memory.capacity()).unwrap()
}

/// Checks that kills and closes never change data. A power loss may change data only if the stored energy is
/// insufficient.
#[test]
fn a_drive_holds_what_was_read_over_kills_closes_and_power_failures() {
    for (settings, may_lose) in [("", false), ("completion = \"late\"\n", false), (SHORT, true)] {
        let folder = Folder::new();
        let mut random = Streams::new(2).stream(settings);
        let mut memory = open(&folder, settings);
        let mut known = bytes(&mut memory);
        let mut lost = 0;
        for step in 0..240_u32 {
            match random.below(30) {
                0 => {
                    memory.power_fail().unwrap();
                    lost += memory.recover().unwrap().bytes_lost;
                    let found = bytes(&mut memory);
                    assert!(may_lose || found == known, "nothing acknowledged is lost");
                    known = found;
                }
                1 => {
                    drop(memory);
                    memory = open(&folder, settings);
                    assert!(bytes(&mut memory) == known, "killed at step {step}");
                }
                2 => {
                    memory.close().unwrap();
                    memory = open(&folder, settings);
                    assert!(bytes(&mut memory) == known, "closed at step {step}");
                }
                3 => memory.checkpoint().unwrap(),
                4 => memory.idle(Time::from_us(random.below(500))).unwrap(),
                5 => drop(memory.read(random.below(60_000), 1000).unwrap()),
                _ => {
                    let (from, count) = (random.below(60_000) as usize, random.below(1500) as usize);
                    let written = vec![step as u8 | 1; count];
                    memory.write(from as u64, &written).unwrap();
                    known[from..from + count].copy_from_slice(&written);
                }
            }
        }
        assert_eq!(lost > 0, may_lose, "{lost} bytes are lost");
    }
}

#[test]
fn a_drive_without_transactions_refuses_them_and_goes_on() {
    let mut memory = Memory::open(&drive(""), &NoFiles).unwrap();
    let refused = memory.begin().unwrap_err();
    assert!(matches!(refused, MemoryError::NoTransactions { kind: "onyx" }), "{refused}");
    assert_eq!(refused.to_string(), "stack, onyx: it has no transactions, envy has; write without one");
    memory.write(100, b"in place").unwrap();
    memory.write(103, b"PLACE").unwrap();
    assert_eq!(memory.read(99, 10).unwrap(), b"\0in PLACE\0");
}
