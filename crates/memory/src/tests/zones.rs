//! Tests of appends to the zones of a memory, including appends that are rejected.

use super::NoFiles;
use crate::memory::REQUEST_MAX;
use crate::{Memory, MemoryError, check};
use nacre_kernel::{Datum, ZoneRefusal};
use nacre_machine::Document;

/// A drive with zones of 4 MiB.
const ZONED: &str = "[stack]\nkind = \"zns_ssd\"\nchannels = 2\nways = 2\nblocks = 16\npages = 64\npage = \"16 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"1 GB/s\"\nlink = \"4 GB/s\"\nbuffer = \"1 MiB\"\n\
    active_zones = 3\n";

fn zoned() -> Memory {
    let checked =
        check(&Document { text: ZONED, name: "test.toml", overrides: &[], seed: None }).expect("legal");
    Memory::open(&checked, &NoFiles).expect("it has data")
}

#[test]
fn a_long_append_that_is_not_whole_units_writes_nothing() {
    let mut memory = zoned();
    let refused = memory.append(0, &vec![1; REQUEST_MAX + 100]).expect_err("its end is not that of a unit");
    assert!(
        matches!(refused, MemoryError::ZoneRefused { refusal: ZoneRefusal::NotWholeUnits, .. }),
        "{refused}"
    );
    assert_eq!(memory.zone(0).expect("it has zones").write_pointer, 0);
    assert_eq!(memory.append(0, &vec![1; REQUEST_MAX + 4096]).expect("it fits"), 0);
    assert_eq!(memory.zone(0).expect("it has zones").write_pointer, REQUEST_MAX as u64 + 4096);
}

#[test]
fn the_data_of_a_refusal_names_its_reason() {
    let mut memory = zoned();
    let reason = |refused: MemoryError| {
        refused.data().into_iter().find(|(key, _)| *key == "reason").expect("it has a reason").1
    };
    let named = |name: &str| Datum::Text(name.into());
    assert_eq!(reason(memory.append(4096, &[1; 4096]).expect_err("no zone")), named("not_zone_start"));
    assert_eq!(reason(memory.append(0, &[1; 100]).expect_err("no unit")), named("not_whole_units"));
    assert_eq!(reason(memory.write(4096, &[1; 4096]).expect_err("a gap")), named("not_at_write_pointer"));
}
