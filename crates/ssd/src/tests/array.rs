//! Compares the array with a list of units. A read of a unit must return the data of its last write.

use super::*;
use crate::ftl::array::Array;
use crate::ftl::mapping_cache::Lookup;
use crate::layout::geometry::{Cells, Geometry};
use crate::mapping_table::Table;
use crate::ops::{Cause, FlashOps, Untimed};
use crate::superblocks::Superblocks;
use nacre_controller::cleaning;
use nacre_kernel::state;
use nacre_media::store::{Memory, Store};

/// Creates a small array in `store` with the garbage collection policy `cleaning`.
fn over<S: Store>(settings: &str, cleaning: &str, store: S) -> Array<S> {
    let mut workbench = workbench(3);
    let config = config(&format!("{settings}\ngarbage_collection.policy = \"{cleaning}\""));
    let geometry = Geometry::of(&config);
    let cleaner =
        cleaning::build(&config.mapping().garbage_collection.policy, geometry.superblocks, &mut workbench)
            .unwrap();
    let superblocks = Superblocks::new(&config, geometry, store, random("blocks"));
    Array::new(&config, superblocks, cleaner)
}

pub(crate) fn small(settings: &str, cleaning: &str) -> Array<nacre_media::store::Nothing> {
    over(settings, cleaning, nacre_media::store::Nothing)
}

/// Creates an array of two dies with blocks of 32 pages and eight bytes of data per page.
fn with_bytes(settings: &str, cleaning: &str) -> Array<Memory> {
    over(&format!("{settings}\nchannels = 1\npages = 32"), cleaning, Memory::new(8))
}

/// Reads the data of `unit`. Returns `None` if the unit is unmapped.
fn read(array: &Array<Memory>, unit: usize) -> Option<u64> {
    let page = array.entry(unit as u64).checked_sub(1)?;
    let mut bytes = [0; 8];
    array.pool.flash.read(page, 0, &mut bytes);
    Some(u64::from_le_bytes(bytes))
}

/// Performs random writes and trims. `naive` has the expected data of every unit.
fn work(array: &mut Array<Memory>, naive: &mut [Option<u64>], steps: u64, random: &mut Random) {
    for step in 1..=steps {
        // Half of the writes go to 10 % of the units.
        let span = if random.chance(0.5) { naive.len() as u64 / 10 } else { naive.len() as u64 };
        let unit = random.below(span) as usize;
        if random.chance(0.02) {
            array.trim(unit as u64);
            naive[unit] = None;
        } else {
            look_up(array, unit as u64);
            assert!(array.write(unit as u64, &step.to_le_bytes(), &mut Untimed));
            naive[unit] = Some(step);
        }
        if random.chance(0.001) {
            array.flush(&mut Untimed);
        }
    }
}

/// Looks up the mapping of `unit` as the device does before a write, if the mapping table is in flash.
fn look_up(array: &mut Array<Memory>, unit: u64) {
    if let Some(Lookup::Miss { programmed: Some(leaving), .. }) =
        array.mapping.as_mut().map(|mapping| mapping.look_up(unit, true))
    {
        array.write_mapping(leaving, &mut Untimed);
    }
}

/// Restores the saved state of `array` into `new`, and checks that both have the same mapping.
fn check_restored(array: &Array<Memory>, mut new: Array<Memory>, settings: &str) {
    state::restored(&mut new, &state::saved(array).unwrap()).unwrap();
    new.check_invariants();
    for unit in 0..new.geometry.logical_units {
        assert_eq!(new.entry(unit), array.entry(unit), "unit {unit} with {settings}, restored");
    }
}

#[test]
fn every_unit_reads_as_its_last_write_under_every_policy() {
    let settings = [
        ("blocks = 32", "greedy"),
        ("blocks = 32", "fifo"),
        ("blocks = 32\nover_provisioning = \"60 %\"\ngarbage_collection.wear_spread = 3", "greedy"),
        ("blocks = 32\nover_provisioning = \"60 %\"\ngarbage_collection.wear_spread = 3", "d_choices"),
        ("blocks = 32\nplanes = 3\nover_provisioning = \"40 %\"\nbuffer_kept = \"25 %\"", "cost_benefit"),
        (
            "blocks = 64\nover_provisioning = \"60 %\"\nmapping = { kind = \"cached_pages\", size = \"8 KiB\", entry = \"16 B\" }",
            "greedy",
        ),
        (
            "blocks = 64\nover_provisioning = \"60 %\"\nmapping = { kind = \"cached_pages\", size = \"4 KiB\", entry = \"64 B\" }\ngarbage_collection.wear_spread = 4",
            "fifo",
        ),
        ("blocks = 48\nspare_blocks = 8\nfactory_bad = \"4 %\"\nover_provisioning = \"70 %\"", "greedy"),
        (
            "blocks = 32\nplanes = 2\npage = \"8 KiB\"\nallocation = \"static\"\nbuffer_kept = \"25 %\"",
            "greedy",
        ),
        (
            "blocks = 32\npage = \"16 KiB\"\nallocation = { kind = \"static\", order = \"pwc\" }\ngarbage_collection.wear_spread = 3",
            "fifo",
        ),
        (
            "blocks = 32\nplanes = 2\npage = \"8 KiB\"\nallocation = \"dynamic\"\ngarbage_collection.wear_spread = 3",
            "d_choices",
        ),
        (
            "blocks = 32\nways = 4\nover_provisioning = \"160 %\"\ngarbage_collection.wear_spread = 3\nallocation = { kind = \"superblock\", parity = {} }",
            "greedy",
        ),
        (
            "blocks = 32\nplanes = 3\nways = 4\nover_provisioning = \"80 %\"\nbuffer_kept = \"25 %\"\nallocation = { kind = \"superblock\", parity = {} }",
            "cost_benefit",
        ),
        (
            "blocks = 64\nways = 4\nmulti_plane = false\nplanes = 2\nover_provisioning = \"160 %\"\nmapping = { kind = \"cached_pages\", size = \"8 KiB\", entry = \"16 B\" }\nallocation = { kind = \"superblock\", parity = { stripe = 2 } }",
            "fifo",
        ),
        (
            "blocks = 32\nplanes = 2\nover_provisioning = \"160 %\"\ngarbage_collection.wear_spread = 3\nallocation = { kind = \"superblock\", parity = {} }",
            "d_choices",
        ),
        (
            "blocks = 48\nspare_blocks = 8\npage = \"8 KiB\"\nallocation = \"dynamic\"\nfactory_bad = \"4 %\"\nover_provisioning = \"70 %\"",
            "greedy",
        ),
    ];
    for ((settings, cleaning), is_list) in settings.into_iter().flat_map(|each| [(each, false), (each, true)])
    {
        let new = || {
            let mut array = with_bytes(settings, cleaning);
            if is_list {
                array.table = Table::list(array.table.len());
            }
            array
        };
        let mut array = new();
        let mut naive = vec![None; array.geometry.logical_units as usize];
        let mut random = random("naive");
        for _ in 0..10 {
            work(&mut array, &mut naive, 4_000, &mut random);
            array.check_invariants();
            for (unit, &expected) in naive.iter().enumerate() {
                assert_eq!(read(&array, unit), expected, "unit {unit} with {settings}, {cleaning}");
            }
        }
        check_restored(&array, new(), settings);
        assert!(array.pool.programs.cleanings > 100, "{settings}: {:?}", array.pool.programs);
    }
}

/// Operations that the array reported to the flash.
#[derive(Default)]
struct Issued {
    programs: u64,
    reads: u64,
    units_read: u64,
    erases: u64,
    last: std::collections::BTreeMap<u32, u32>,
}

impl FlashOps for Issued {
    fn program(&mut self, superblock: u32, operation: u32, _: Cells, _: Cause, _: bool, _omitted: u64) {
        let next = self.last.entry(superblock).or_insert(0);
        assert_eq!(*next, operation, "operations of superblock {superblock} go in their order");
        *next += 1;
        self.programs += 1;
    }

    fn program_parity(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _cause: Cause) {
        unreachable!("there is no parity");
    }

    fn read(&mut self, _superblock: u32, _operation: u32, _cells: Cells, units: u32, _cause: Cause) {
        self.reads += 1;
        self.units_read += u64::from(units);
    }

    fn erase(&mut self, superblock: u32) {
        self.last.remove(&superblock);
        self.erases += 1;
    }

    fn die_free_from(&mut self, _die: u32) -> Time {
        Time::ZERO
    }
}

#[test]
fn every_program_read_and_erase_is_reported_to_the_flash() {
    for cleaning in ["greedy", "cost_benefit"] {
        let mut array = small("blocks = 64\nplanes = 2\npages = 32\nover_provisioning = \"40 %\"", cleaning);
        let (mut issued, mut random) = (Issued::default(), random("told"));
        for _ in 0..60_000 {
            let unit = random.below(array.geometry.logical_units);
            assert!(array.write(unit, &[], &mut issued));
        }
        let units = u64::from(array.geometry.operation_units);
        let waiting: u64 = array.frontiers.iter().map(|open| u64::from(open.taken - open.issued)).sum();
        assert_eq!(issued.programs * units + waiting, array.pool.flash.programs(), "{cleaning}");
        assert_eq!(issued.erases, array.pool.flash.erases());
        let pending = array.relocations().map(|relocation| u64::from(relocation.reading.units)).sum::<u64>();
        assert_eq!(issued.units_read + pending, array.pool.programs.cleaned, "every copy is read");
        assert!(issued.reads <= issued.units_read);
    }
}

#[test]
fn division_by_a_fixed_number_is_exact() {
    let mut random = random("division");
    for planes in [1, 3, 5, 7, 64] {
        let array =
            small(&format!("planes = {planes}\npages = 64\nblocks = 64\nbuffer = \"1 MiB\""), "greedy");
        let geometry = array.geometry;
        for _ in 0..1000 {
            let number = random.below(u64::from(u32::MAX)) as u32;
            assert_eq!(geometry.operation_of(0, number), number / geometry.operation_units);
            let spot = geometry.spot(number);
            assert_eq!((spot.die, spot.page), (number % geometry.dies, number / geometry.dies % 64));
        }
    }
}

#[test]
fn short_sequences_of_every_operation_keep_the_newest_version() {
    // The test covers all sequences of eight steps out of write a, write b, trim a, and flush, starting from
    // an almost full array.
    let filled = || {
        let mut array = with_bytes("blocks = 8\nover_provisioning = \"110 %\"", "greedy");
        let count = array.geometry.logical_units;
        let written = (0..3 * count + 100).map(|step| {
            let unit = step % count;
            assert!(array.write(unit, &step.to_le_bytes(), &mut Untimed));
            (unit, step)
        });
        let newest: std::collections::BTreeMap<u64, u64> = written.collect();
        (array, newest)
    };
    for sequence in 0..4_u32.pow(5) {
        let (mut array, mut newest) = filled();
        for step in 0..5 {
            match sequence / 4_u32.pow(step) % 4 {
                choice @ 0..2 => {
                    let unit = u64::from(choice) * 17;
                    let stamp = 1_000_000 + u64::from(step);
                    assert!(array.write(unit, &stamp.to_le_bytes(), &mut Untimed));
                    newest.insert(unit, stamp);
                }
                2 => {
                    array.trim(0);
                    newest.remove(&0);
                }
                _ => array.flush(&mut Untimed),
            }
        }
        array.check_invariants();
        for unit in 0..array.geometry.logical_units {
            assert_eq!(
                read(&array, unit as usize),
                newest.get(&unit).copied(),
                "unit {unit} after {sequence}"
            );
        }
    }
}
