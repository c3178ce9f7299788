//! Tests that a device reports lost data and never returns it.

use super::{NoFiles, check};
use crate::MemoryError;
use crate::memory::Memory;
use nacre_kernel::Streams;
use nacre_machine::Document;

/// Number of pages written and read.
const PAGES: u64 = 200;
const PAGE: u64 = 2048;

/// A flash disk cache whose cells are worn out after a few erases, with a controller that does not monitor
/// wear.
const WORN_CACHE: &str = "[stack]\nkind = \"flash_disk_cache\"\nblocks = 16\nslots = 8\nwrite_region = \"25 %\"\n\
    mlc_endurance = 20\nwear_gap = 4\nraises_strength = false\nlowers_density = false\npromotes = false\n\
    ecc = { kind = \"bch\", t = 2, crc32 = true }\n\
    [stack.backing]\nkind = \"measured\"\nread = \"1 ms\"\nwrite = \"1 ms\"\ncapacity = \"1 MiB\"\n";

fn open(scenario: &str) -> Memory {
    let document = Document { text: scenario, name: "worn.toml", overrides: &[], seed: None };
    let checked = check(&document).unwrap_or_else(|problems| panic!("{problems}"));
    Memory::open(&checked, &NoFiles).unwrap()
}

#[test]
fn lost_data_is_reported_and_never_returned() {
    let mut memory = open(WORN_CACHE);
    let mut random = Streams::new(1).stream("pages");
    let mut written = vec![Some(0_u8); PAGES as usize];
    let mut reported = 0;
    let (mut failed_reads, mut failed_writes, mut failed_flushes) = (0, 0, 0);
    for number in 0..20_000_u64 {
        if number % 100 == 0 {
            let lost = memory.statistics().counters["lost_pages"].as_u64().unwrap();
            let is_reported = memory.flush().is_err();
            assert_eq!(
                is_reported,
                lost > reported,
                "{lost} pages are lost, and {reported} of them were reported"
            );
            (reported, failed_flushes) = (lost, failed_flushes + u64::from(is_reported));
        }
        let page = random.below(PAGES);
        let (address, now) = (page * PAGE, &mut written[page as usize]);
        let stamp = number as u8 | 1;
        match random.below(4) {
            0 => match memory.write(address, &[stamp; PAGE as usize]) {
                Ok(()) => *now = Some(stamp),
                Err(why) => panic!("all of a page is written: {why}"),
            },
            1 => match memory.write(address, &[now.unwrap_or(0)]) {
                Ok(()) => assert!(now.is_some(), "page {page} is lost, and a byte of it is written"),
                Err(MemoryError::MediaError { address: at, size: 1 }) if at == address => {
                    (*now, failed_writes) = (None, failed_writes + 1);
                }
                Err(why) => panic!("{why}"),
            },
            _ => match memory.read(address, PAGE) {
                Ok(bytes) => {
                    assert_eq!(Some(bytes), now.map(|byte| vec![byte; PAGE as usize]), "page {page}");
                }
                Err(MemoryError::MediaError { address: at, size: PAGE }) if at == address => {
                    (*now, failed_reads) = (None, failed_reads + 1);
                }
                Err(why) => panic!("{why}"),
            },
        }
    }
    assert!(failed_reads > 20 && failed_writes > 5, "{failed_reads} reads, {failed_writes} writes");
    assert!(failed_flushes > 20, "{failed_flushes} flushes");
}

/// A drive with zones of 1 MiB.
const ZONED: &str = "[stack]\nkind = \"zns_ssd\"\nchannels = 2\nways = 2\nblocks = 16\npages = 16\npage = \"16 KiB\"\n\
    read = [\"50 us\"]\nprogram = [\"500 us\"]\nerase = \"3 ms\"\nbus = \"1 GB/s\"\nlink = \"4 GB/s\"\nbuffer = \"1 MiB\"\n\
    active_zones = 12\n";

#[test]
fn a_zone_that_refuses_a_write_says_where_it_is_written_next() {
    let mut memory = open(ZONED);
    memory.write(0, &[1; 8192]).unwrap();
    for (address, size) in [(4096, 4096), (8192, 100)] {
        let refused = memory.write(address, &vec![1; size]);
        let Err(MemoryError::ZoneRefused { write_pointer: 8192, end: 0x10_0000, .. }) = refused else {
            panic!("{refused:?} of {size} bytes at {address}");
        };
    }
    memory.write(8192, &[1; 4096]).unwrap();
}
