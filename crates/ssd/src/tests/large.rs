//! Tests of a whole drive of 122.88 TB with mapping units of 16 KiB, which has more than 2^32 units.

use super::*;
use crate::layout::geometry::Geometry;
use crate::ops::Untimed;
use crate::table_memory;
use nacre_device::UnitsInRun;

/// A drive of about two thousand planes with blocks of 2048 pages of one unit.
const DRIVE: &str = "channels = 16\nways = 32\nplanes = 4\nblocks = 1960\npages = 2048\npage = \"16 KiB\"\n\
    unit = \"16 KiB\"\nover_provisioning = \"7 %\"\nbuffer = \"1 GiB\"";
const UNIT: u64 = 16 << 10;

#[test]
fn units_beyond_32_bits_are_mapped_with_at_most_ten_bytes_each() {
    let mut array = super::array::small(DRIVE, "greedy");
    let (units, written) = (array.geometry.logical_units, 1 << 21);
    assert!(units * UNIT > 122_880_000_000_000, "{units}");
    let before = array.table.bytes() + array.owners.bytes();
    let mut random = random("large");
    let mut newest = std::collections::BTreeMap::new();
    for _ in 0..written {
        // The last units have numbers above 2^32.
        let unit = units - 1 - random.below(1 << 28) * 17;
        assert!(array.write(unit, &[], &mut Untimed));
        newest.insert(unit, array.entry(unit));
    }
    assert!(newest.keys().any(|&unit| unit > 1 << 32) && newest.keys().any(|&unit| unit < 1 << 32));
    for (&unit, &entry) in &newest {
        assert_eq!((array.entry(unit), array.owners.get(entry as usize - 1)), (entry, unit));
        assert!(array.is_valid(entry - 1), "the page of {unit}");
    }
    let bytes = array.table.bytes() + array.owners.bytes() - before;
    let each = bytes as f64 / written as f64 + 1.0 / 8.0;
    assert!(each <= 10.0, "{each} bytes per written unit");
}

#[test]
fn a_run_touches_at_most_the_memory_that_is_checked() {
    let by_plane = "allocation = { kind = \"static\" }";
    let slc = "slc_cache = { size = \"64 GiB\", read = \"20 us\", program = \"200 us\" }";
    for settings in [DRIVE.to_string(), format!("{DRIVE}\n{by_plane}"), format!("{DRIVE}\n{slc}")] {
        for (count, stride) in [(1, 1), (300_000, 1), (20_000, 7_919_993), (20_000, 1 << 19)] {
            let mut array = super::array::small(&settings, "greedy");
            let before = array.table.bytes() + array.owners.bytes();
            for number in 0..count {
                assert!(array.write(number * stride % array.geometry.logical_units, &[], &mut Untimed));
                // Each flush pads an operation.
                if number % 64 == 0 {
                    array.flush(&mut Untimed);
                }
            }
            let touched = array.table.bytes() + array.owners.bytes() - before;
            let units = UnitsInRun { filled: 0, requested: count };
            let memory = table_memory::tables(&config(&settings), &array.geometry, 0, Some(units));
            let fixed = array.geometry.numbers() as u64 / 8;
            assert!(touched + fixed <= memory.in_run, "{count} {stride}: {touched}, {memory:?} {settings}");
            assert!(memory.in_run < memory.in_all / 4, "{count} {stride}: {memory:?} {settings}");
        }
    }
}

#[test]
fn requests_to_the_end_of_a_large_drive_take_their_usual_time() {
    let mut device = driven(DRIVE);
    let last = device.device.capacity().map_or(0, |capacity| capacity.0) / UNIT - 1;
    let request = |op, number: u64| Request { address: number * UNIT, bytes: UNIT as u32, ..unit(op, 0) };
    let (mut random, mut now) = (random("end"), Time::ZERO);
    let numbers: Vec<u64> = (0..4096).map(|_| last - random.below(1 << 32)).collect();
    for &number in &numbers {
        device.submit(now, &request(Op::Write, number));
    }
    now = device.rest() + Time::from_us(1);
    for &number in numbers.iter().take(100) {
        let read = device.ask(now, &request(Op::Read, number));
        // The page is sensed, and crosses the channel and the link.
        assert_close(
            "read",
            read.latency_s(),
            50e-6 + 300e-9 + UNIT as f64 / 400e6 + UNIT as f64 / 4e9,
            0.05,
        );
        now = device.now + Time::from_us(1);
    }
    let wear = device.report().wear.expect("it wears");
    assert_eq!((wear.host, wear.cleaned), (4096, 0));
    assert_eq!(device.counter("unwritten_reads"), 0);
}

#[test]
fn write_amplification_of_wide_numbers_is_that_of_narrow_ones() {
    // In the tests of this crate, drives with more than 2^16 units have wide numbers. The closed forms of
    // write amplification and the power losses of the other tests therefore also test wide numbers.
    let geometry = Geometry::of(&config(""));
    assert!(crate::layout::numbers::is_wide(geometry.numbers() as u64));
    assert!(!crate::layout::numbers::is_wide(Geometry::of(&config("blocks = 64")).numbers() as u64));
}
