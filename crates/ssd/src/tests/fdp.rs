//! Tests of flexible data placement: reclaim units, isolation, statistics, and events.

use super::*;
use nacre_testkit::cleaning_laws as laws;

/// Mean number of erased superblocks: the reserve minus half of the superblock that garbage collection is
/// reclaiming.
const ERASED: f64 = 3.5;

/// Creates a drive with the reclaim unit handles `handles`, `blocks` blocks per plane, and additional
/// `settings`.
fn drive_with(handles: &str, blocks: u32, settings: &str) -> Driven {
    let spare = if settings.contains("parity") { 80 } else { 28 };
    driven(&format!(
        "fdp = {{ {handles} }}\nblocks = {blocks}\nover_provisioning = \"{spare} %\"\nbuffer = \"1 MiB\"\n{settings}"
    ))
}

fn write(device: &mut Driven, volume: u32, number: u64) {
    device.precondition_with(&[Request { volume, ..unit(Op::Write, number) }]);
}

fn of_handles(device: &Driven, name: &str) -> Vec<f64> {
    let report = device.report();
    let name = format!("handles.{name}");
    report.columns.iter().find(|column| column.name == name).expect("it has handles").values.clone()
}

/// Returns the write amplification of each class of data under FIFO garbage collection. Each class has a
/// fraction of the data and of the writes. The data of the drive is the fraction `u` of its superblocks.
///
/// A page stays for a time T, measured in host writes, until FIFO selects its superblock. The page is then
/// still valid with the probability s = exp(-r T / (f n)), and is written again. Each write of its class
/// therefore causes 1 / (1 - s) programs, and T is the time in which all classes fill the drive once.
fn fifo_by_kind(u: f64, kinds: [(f64, f64); 2]) -> [f64; 2] {
    let programs =
        |time: f64| kinds.map(|(data, writes)| 1.0 / (1.0 - libm::exp(-writes * time / (data * u))));
    let filled = |time: f64| {
        let all = kinds.iter().zip(programs(time)).map(|((_, writes), each)| writes * each);
        all.sum::<f64>() * time
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..100 {
        let time = f64::midpoint(low, high);
        if filled(time) < 1.0 { low = time } else { high = time }
    }
    programs(low)
}

#[test]
fn the_law_by_kind_is_that_of_mixed_data_as_a_whole() {
    for u in [0.7, 0.85] {
        let kinds = [(0.2, 0.5), (0.8, 0.5)];
        let by_kind = fifo_by_kind(u, kinds);
        let all = by_kind.iter().zip(kinds).map(|(each, (_, writes))| each * writes).sum::<f64>();
        assert_close("all kinds", all, 1.0 + laws::fifo_mixed(u, &kinds), 1e-6);
    }
}

#[test]
fn two_lifetimes_amplify_as_the_law_of_one_stream_says_for_each_handle() {
    // Half of the writes go to 20 % of the data through one handle, and the others through the other handle.
    let superblocks = 1024;
    for (handles, parts) in [
        ("initially_isolated = 2", 1.0),
        ("persistently_isolated = 2", 2.0),
        ("initially_isolated = 1, persistently_isolated = 1", 2.0),
    ] {
        let mut device = drive_with(handles, superblocks, "garbage_collection.policy = \"fifo\"\npages = 32");
        let (count, mut random) = (device.unit_count(), random("lifetimes"));
        let short = count / 5;
        for number in 0..count {
            write(&mut device, u32::from(number >= short), number);
        }
        let mut go = |device: &mut Driven, writes: u64| {
            for number in 0..writes {
                match number % 2 {
                    0 => write(device, 0, random.below(short)),
                    _ => write(device, 1, short + random.below(count - short)),
                }
            }
        };
        go(&mut device, 6 * count);
        device.restart_ledger();
        go(&mut device, 3 * count);
        device.check_invariants();
        // Half of each open superblock does not contain data yet.
        let idle = ERASED + (2.0 + parts) / 2.0;
        let u = 1.0 / 1.28 * f64::from(superblocks) / (f64::from(superblocks) - idle);
        let law = fifo_by_kind(u, [(0.2, 0.5), (0.8, 0.5)]);
        for (found, law) in of_handles(&device, "write_amplification").into_iter().zip(law) {
            assert_close(handles, found, law, 0.03);
        }
    }
}

#[test]
fn data_of_an_initially_isolated_handle_never_enters_the_units_of_a_persistent_one() {
    // A persistent handle receives a log. Two other handles receive random data that garbage collection
    // mixes.
    let settings = "pages = 128\ngarbage_collection.policy = \"fifo\"";
    let mut device = drive_with("initially_isolated = 2, persistently_isolated = 1", 512, settings);
    let (count, mut random) = (device.unit_count(), random("mixed"));
    let log = count / 8;
    for number in log..count {
        write(&mut device, (number % 2) as u32, number);
    }
    let mut go = |device: &mut Driven, writes: u64| {
        for number in 0..writes {
            match (number % 3) as u32 {
                2 => write(device, 2, number / 3 % log),
                volume => write(device, volume, log + random.below(count - log)),
            }
        }
    };
    go(&mut device, 6 * count);
    device.restart_ledger();
    go(&mut device, 3 * count);
    // The invariants include that each valid unit is in a superblock of the same part of the data.
    device.check_invariants();
    let [one, other, of_log] = of_handles(&device, "write_amplification")[..] else {
        panic!("three handles")
    };
    // FIFO selects a superblock of the log after the log has overwritten it.
    assert_eq!(of_log, 1.0, "the log is copied");
    assert!(one > 1.3 && other > 1.3, "{one} {other}");
    // Both handles write all of the same data, so their write amplifications are equal.
    assert_close("alike", one, other, 0.03);
}

#[test]
fn a_log_fills_and_erases_reclaim_units_as_wholes() {
    for reclaim_unit in [1_u32, 3, 4] {
        let settings = format!("allocation = {{ kind = \"superblock\", reclaim_unit = {reclaim_unit} }}");
        let mut device = drive_with("persistently_isolated = 2", 240, &settings);
        // There are 4 dies, each with `reclaim_unit` blocks of 64 pages of one unit.
        let units = 4 * 64 * u64::from(reclaim_unit);
        let log = device.unit_count() / units * units / 2;
        for number in 0..8 * log {
            write(&mut device, 0, number % log);
            if number == 4 * log - 1 {
                device.restart_ledger();
            }
        }
        device.check_invariants();
        let report = device.report();
        let written = 4 * log;
        assert_eq!(device.amplification(), 1.0, "{reclaim_unit}");
        assert_eq!(counter(&report, "host_bytes_with_metadata_written"), written * 4096);
        assert_eq!(counter(&report, "media_bytes_with_metadata_written"), written * 4096);
        // The handle referenced another reclaim unit after each full one. Its reclaim unit was full when
        // measurement started.
        assert_eq!(of_handles(&device, "implicitly_modified"), [(written / units) as f64, 0.0]);
        assert_eq!(of_handles(&device, "not_fully_written"), [0.0, 0.0]);
        // All superblocks that were filled before are erased by now, except those that the drive needs for
        // its data.
        let erased = counter(&report, "media_bytes_erased");
        assert_eq!(erased % (units * 4096), 0, "whole reclaim units");
        assert!(erased.abs_diff(written * 4096) <= units * 4096, "{erased} of {}", written * 4096);
        let erases = report.wear.expect("it wears").block_erases;
        let blocks = (240 / reclaim_unit * reclaim_unit) as usize;
        for lane in erases.chunks(240) {
            for unit in lane[..blocks].chunks(reclaim_unit as usize) {
                assert!(unit.iter().all(|&erases| erases == unit[0]), "{unit:?} of a reclaim unit");
            }
        }
    }
}

#[test]
fn large_reclaim_units_amplify_as_superblocks_of_their_number() {
    for (reclaim_unit, blocks) in [(2, 1024_u32), (4, 2048)] {
        let settings = format!(
            "garbage_collection.policy = \"fifo\"\npages = 16\nallocation = {{ kind = \"superblock\", reclaim_unit = {reclaim_unit} }}"
        );
        let mut device = drive_with("initially_isolated = 1", blocks, &settings);
        let (count, mut random) = (device.unit_count(), random("large"));
        device.precondition(count, |number| number);
        device.precondition(4 * count, |_| random.below(count));
        device.restart_ledger();
        device.precondition(2 * count, |_| random.below(count));
        device.check_invariants();
        let superblocks = f64::from(blocks / reclaim_unit);
        let u = 1.0 / 1.28 * superblocks / (superblocks - ERASED - 1.0);
        assert_close("FIFO", device.amplification(), 1.0 + laws::fifo(u), 0.03);
    }
}

#[test]
fn statistics_count_every_byte_that_the_flash_programs_and_erases() {
    for settings in [
        "",
        "allocation = { kind = \"superblock\", reclaim_unit = 2, parity = {} }",
        "garbage_collection.wear_spread = 4",
    ] {
        let mut device = drive_with("initially_isolated = 1, persistently_isolated = 1", 128, settings);
        let (count, mut random) = (device.unit_count() * 2 / 3, random("statistics"));
        for number in 0..2 * count {
            write(&mut device, (number % 2) as u32, number % count);
        }
        device.restart_ledger();
        let writes = 2 * count;
        device.closed_loop(16, writes, |number| {
            let at = if number % 4 == 0 { random.below(count) } else { random.below(count / 8) };
            Request { volume: (number % 2) as u32, ..unit(Op::Write, at) }
        });
        device.rest();
        device.check_invariants();
        let report = device.report();
        let counts = |name: &str| counter(&report, name);
        assert_eq!(counts("host_bytes_with_metadata_written"), writes * 4096);
        let moved: f64 = of_handles(&device, "units_moved").iter().sum();
        let parity = report.counters.iter().find(|(name, _)| *name == "units_parity").map_or(0, |of| of.1);
        let media = writes - counts("units_coalesced") + moved as u64 + parity;
        assert_eq!(counts("media_bytes_with_metadata_written"), media * 4096, "{settings}");
        // A page contains one unit, and each die receives a separate command for every page.
        assert_eq!(counts("flash_programs"), media, "{settings}");
        assert_eq!(counts("media_bytes_erased"), counts("flash_erases") * 64 * 4096, "{settings}");
    }
}

#[test]
fn a_reclaim_unit_that_a_refresh_closes_was_not_fully_written() {
    let errors =
        "errors = { ecc = { kind = \"ldpc\" }, bit_error_rate = 1e-6, cycles = 3000, refresh_reads = 40 }";
    let mut device =
        drive_with("initially_isolated = 2", 64, &format!("scheduling = \"in_order\"\n{errors}"));
    for number in 0..100 {
        device.ask(device.now, &Request { volume: 1, ..unit(Op::Write, number) });
    }
    device.rest();
    for _ in 0..60 {
        device.ask(device.now, &unit(Op::Read, 0));
    }
    device.rest();
    device.check_invariants();
    assert_eq!(of_handles(&device, "not_fully_written"), [0.0, 1.0]);
    assert_eq!(of_handles(&device, "implicitly_modified"), [0.0, 1.0]);
}

#[test]
fn blocks_that_fill_no_reclaim_unit_are_spare() {
    let settings = "allocation = { kind = \"superblock\", reclaim_unit = 4 }\nendurance = 1000";
    let device = drive_with("initially_isolated = 1", 130, settings);
    assert_eq!(device.column("blocks_by_state.superblocks_usable"), 32.0);
    assert_eq!(device.column("blocks_by_state.spare"), 8.0, "two of each of four dies");
}

#[test]
fn flexible_data_placement_without_handles_is_refused() {
    let refused = problems("fdp = {}");
    assert!(refused.contains("the host writes through a handle, and there is none"), "{refused}");
}
