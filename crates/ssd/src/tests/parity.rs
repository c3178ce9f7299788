//! Tests of parity within superblocks: its cost, rebuilt units, and lost units.

use super::array::small;
use super::driven::driven_with_bytes;
use super::*;
use crate::layout::geometry::Cells;
use crate::ops::{Cause, FlashOps};
use nacre_kernel::{Recovery, Status};
use std::collections::BTreeMap;

const READ: Time = Time::from_us(50);
/// Channel time of a command.
const COMMAND: Time = Time::from_ns(300);
/// Channel time of a page.
const PAGE: Time = Time::from_ns(10_240);
/// Link time of a page of 4 KiB at 4 GB/s.
const LINK: Time = Time::from_ns(1_024);
/// Decoding time of two codewords of 2 KiB, with 15 us for each of four correctable bits.
const DECODING: Time = Time::from_us(120);

/// Returns settings with parity, in stripes of `stripe` of the four dies, and with the constant bit error
/// rate `rate`, at which some units are uncorrectable.
fn parity(stripe: u32, rate: f64) -> String {
    format!(
        "allocation = {{ kind = \"superblock\", parity = {{ stripe = {stripe} }} }}\nover_provisioning = \"140 %\"\nerrors = {{ ecc = {{ kind = \"bch\", \
         t = 4, codeword = \"2 KiB\" }}, bit_error_rate = {rate}, cycles = 1, error_exponent = 0 }}"
    )
}

/// Returns the fraction of units that are uncorrectable at the bit error rate `rate`.
fn beyond(rate: f64) -> f64 {
    crate::tests::workbench::ecc("kind = \"bch\"\nt = 4\ncodeword = \"2 KiB\"", 4096).page_failure(rate)
}

/// Reads unit `number` at `now`. Returns the completion time and the status.
fn read(device: &mut Driven, now: Time, number: u64) -> (Time, Status) {
    let answer = device.ask(now, &unit(Op::Read, number));
    (answer.latency(), answer.status)
}

#[test]
fn a_unit_is_lost_when_it_and_another_one_of_its_stripe_are_beyond_the_code() {
    for (stripe, rate) in [(2, 2e-4), (4, 1.2e-4), (4, 2e-4)] {
        let mut device = driven(&parity(stripe, rate));
        // The count is a multiple of superblocks of 128 and 192 units.
        let count = 38_400;
        device.precondition(count, |number| number);
        let mut failed = 0;
        for number in 0..count {
            let (_, status) = read(&mut device, Time::from_ms(number), number);
            failed += u64::from(status == Status::MediaError);
        }
        let (p, others, found) = (beyond(rate), stripe - 1, device.report());
        let lost = p * (1.0 - libm::pow(1.0 - p, f64::from(others)));
        let what = format!("stripes of {stripe} with {p} beyond the code");
        assert_close(&format!("lost: {what}"), failed as f64 / count as f64, lost, 0.05);
        assert_eq!(counter(&found, "lost_pages"), failed);
        let rebuilt = counter(&found, "rebuilt_units");
        assert_close(&format!("rebuilt: {what}"), rebuilt as f64 / count as f64, p - lost, 0.03);
        let reads = counter(&found, "rebuild_reads");
        assert_eq!(reads, u64::from(others) * (rebuilt + failed), "{what}");
        assert_eq!(counter(&found, "flash_reads"), count + reads);
        // Lost units are known, so that reading them again does not count as another loss.
        let units: Vec<u64> = (0..2_000).collect();
        let before = device.counter("lost_pages");
        units.iter().for_each(|&number| _ = read(&mut device, Time::from_ms(count + number), number));
        assert_eq!(device.counter("lost_pages"), before);
        device.check_invariants();
    }
}

#[test]
fn a_rebuilt_read_of_an_idle_drive_takes_the_slowest_of_the_other_dies_more() {
    // Dies 0 and 2 share one channel, and dies 1 and 3 the other. Two of the three other dies share a
    // channel, which is not that of the first die. Their pages are transferred sequentially, and the second
    // command is transferred while the first die senses. With stripes of two, the other die does not share
    // its channel.
    for (stripe, pages) in [(4, 2), (2, 1)] {
        let mut device = driven(&parity(stripe, 1e-4));
        let count = 3_840;
        device.precondition(count, |number| number);
        let plain = COMMAND + READ + PAGE + DECODING + LINK;
        let rebuilt = plain + COMMAND + READ + PAGE * pages + DECODING;
        let mut seen = BTreeMap::new();
        for number in 0..count {
            let before = device.counter("rebuilt_units");
            let (latency, status) = read(&mut device, Time::from_ms(number), number);
            let is_rebuilt = device.counter("rebuilt_units") > before;
            *seen.entry((latency, is_rebuilt, status == Status::Done)).or_insert(0) += 1;
        }
        // A failed read takes the same time.
        let known = [(plain, false, true), (rebuilt, true, true), (rebuilt, false, false)];
        assert!(seen.keys().all(|kind| known.contains(kind)), "{stripe}: {seen:?}");
        assert!(seen[&known[0]] > 3_000 && seen[&known[1]] > 50, "{stripe}: {seen:?}");
    }
}

/// Settings with uncorrectable bit errors in every unit.
const HOPELESS: &str = "over_provisioning = \"140 %\"\nallocation = { kind = \"superblock\", parity = {} }\nerrors = { ecc = { kind = \"crc32\" }, \
                        bit_error_rate = 0.1, cycles = 1, error_exponent = 0 }";

#[test]
fn parity_of_a_stripe_that_is_not_full_is_in_the_drive() {
    for (written, rebuilt, reads) in [(1, 1, 0), (2, 0, 1), (3, 0, 3)] {
        let mut device = driven(HOPELESS);
        device.precondition(written, |number| number);
        let (_, status) = read(&mut device, Time::ZERO, 0);
        assert_eq!(status == Status::Done, rebuilt == 1, "{written} written");
        let found = device.report();
        assert_eq!(counter(&found, "rebuilt_units"), rebuilt, "{written} written");
        assert_eq!(counter(&found, "rebuild_reads"), reads, "{written} written");
        assert_eq!(counter(&found, "units_parity"), written / 3, "{written} written");
    }
}

#[test]
fn members_in_the_buffer_are_not_read_for_a_rebuild() {
    let mut device = driven(HOPELESS);
    device.submit(Time::ZERO, &unit(Op::Write, 0));
    let first = device.rest();
    device.write_all(first, 1..3);
    // These units and the parity are programmed about 511 us later.
    assert_eq!(read(&mut device, first + Time::from_us(300), 0).1, Status::Done);
    assert_eq!(device.counter("rebuild_reads"), 0);
    let idle = device.rest();
    assert_eq!(read(&mut device, idle, 0).1, Status::MediaError);
    assert_eq!(device.counter("rebuild_reads"), 3);
}

#[test]
fn garbage_collection_copies_rebuilt_units_and_loses_no_more_than_reads() {
    let rate = 1.2e-4;
    let settings = parity(4, rate).replace("140 %", "60 %");
    let mut device = driven(&format!("blocks = 64\n{settings}"));
    let (count, mut random) = (device.unit_count(), random("copies"));
    device.precondition(count, |number| number);
    device.restart_ledger();
    let seen = device.closed_loop(16, 4 * count, |_| unit(Op::Write, random.below(count)));
    assert_eq!(seen.errors, 0);
    device.rest();
    device.check_invariants();
    let (p, found) = (beyond(rate), device.report());
    let rebuilt = counter(&found, "rebuilt_units") as f64;
    let lost = counter(&found, "lost_pages") as f64;
    assert!(rebuilt > 1_000.0, "{rebuilt}");
    let others = 1.0 - p;
    assert_close("of what is beyond the code", rebuilt / (rebuilt + lost), others * others * others, 0.03);
    assert_eq!(counter(&found, "rebuild_reads"), 3 * (rebuilt + lost) as u64);
}

/// Numbers of programs and erases that are issued to the flash, and the last program of each superblock and
/// die.
#[derive(Default)]
struct Issued {
    data: u64,
    parity: u64,
    erases: u64,
    /// Last operation programmed for each superblock and die.
    last: BTreeMap<(u32, u32), u32>,
    dies: u32,
}

impl Issued {
    fn note(&mut self, superblock: u32, operation: u32) {
        let die = operation % self.dies;
        let expected = self.last.get(&(superblock, die)).map_or(die, |last| last + self.dies);
        assert_eq!(operation, expected, "the dies of superblock {superblock} program page after page");
        self.last.insert((superblock, die), operation);
    }
}

impl FlashOps for Issued {
    fn program(&mut self, superblock: u32, operation: u32, _: Cells, _: Cause, _: bool, _omitted: u64) {
        self.note(superblock, operation);
        self.data += 1;
    }

    fn program_parity(&mut self, superblock: u32, operation: u32, _cells: Cells, _cause: Cause) {
        self.note(superblock, operation);
        self.parity += 1;
    }

    fn read(&mut self, _superblock: u32, _operation: u32, _cells: Cells, _units: u32, _cause: Cause) {}

    fn erase(&mut self, superblock: u32) {
        self.last.retain(|&(other, _), _| other != superblock);
        self.erases += 1;
    }

    fn die_free_from(&mut self, _die: u32) -> Time {
        Time::ZERO
    }
}

#[test]
fn every_page_of_a_block_is_programmed_once_and_in_order_and_every_stripe_has_parity() {
    for (settings, stripe) in [
        ("allocation = { kind = \"superblock\", parity = {} }", 4),
        (
            "allocation = { kind = \"superblock\", parity = { stripe = 2 } }\nplanes = 2\nmulti_plane = false",
            2,
        ),
        (
            "channels = 3\nallocation = { kind = \"superblock\", parity = { stripe = 3 } }\nbuffer_kept = \"25 %\"",
            3,
        ),
        ("allocation = { kind = \"superblock\", parity = {} }\ngarbage_collection.wear_spread = 3", 4),
        (
            "allocation = { kind = \"superblock\", parity = {} }\nslc_cache = { size = \"4 MiB\", read = \"20 us\", program = \"200 us\" }",
            4,
        ),
    ] {
        let settings = format!("blocks = 64\npages = 32\nover_provisioning = \"160 %\"\n{settings}");
        let mut array = small(&settings, "greedy");
        let mut issued = Issued { dies: array.geometry.dies, ..Issued::default() };
        let mut random = random("stripes");
        for _ in 0..60_000 {
            let unit = random.below(array.geometry.logical_units);
            assert!(array.write(unit, &[], &mut issued));
        }
        array.check_invariants();
        let units = u64::from(array.geometry.operation_units);
        let waiting: u64 = array.frontiers.iter().map(|open| u64::from(open.taken - open.issued)).sum();
        assert_eq!(issued.data * units + waiting, array.pool.flash.programs(), "{settings}");
        assert_eq!(issued.parity * units, array.pool.programs.parity, "{settings}");
        // The current stripe of each open superblock is partial. Stripes of refreshed and leveled superblocks
        // may be shorter.
        let open = array.frontiers.len() as u64;
        let full = issued.data / (stripe - 1);
        assert!(
            (full - open..=full + issued.erases).contains(&issued.parity),
            "{settings}: {issued:?}",
            issued = issued.parity
        );
    }
}

#[test]
fn programs_are_those_of_the_host_of_copies_and_of_parity() {
    for (stripe, planes) in [(4, 1), (2, 2)] {
        let settings = format!(
            "allocation = {{ kind = \"superblock\", parity = {{ stripe = {stripe} }} }}\nplanes = {planes}\nover_provisioning = \"140 %\"\nblocks = 64\n\
             power_protected = false\nread_energy = \"25 uJ\"\nprogram_energy = \"150 uJ\"\nerase_energy = \"500 uJ\"\n\
             transfer_energy = \"2 uJ\""
        );
        let mut device = driven(&settings);
        let count = 1_000;
        let seen = device.closed_loop(16, count, |number| unit(Op::Write, number));
        let flush = Request { bytes: 0, ..unit(Op::Flush, 0) };
        device.ask(seen.end, &flush);
        device.rest();
        let found = device.report();
        let parity = counter(&found, "units_parity");
        let data = counter(&found, "units_host") + counter(&found, "units_padding");
        let operations = data / planes;
        assert_eq!(parity, operations / (stripe - 1) * planes);
        assert_eq!(counter(&found, "flash_programs") * planes, data + parity);
        let wear = found.wear.as_ref().unwrap();
        assert_eq!(wear.write_amplification().unwrap(), (data + parity) as f64 / count as f64);
        // Each read uses time and energy of its die.
        let dies = resource(&found, "dies");
        let busy = (parity / planes) as f64 * 500e-6;
        assert_close("time of parity", dies.ledger.busy_s(Activity::Correct), busy, 1e-9);
        let energy = parity as f64 * 150e-6;
        assert_close("energy of parity", dies.ledger.energy(Activity::Correct).0, energy, 1e-9);
    }
}

#[test]
fn writes_in_sequence_are_amplified_by_the_stripe_and_as_much_slower() {
    for stripe in [2, 4] {
        let bound = "over_provisioning = \"140 %\"\nbus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"40 GB/s\"\nerase = \"1 us\"";
        let mut device = driven(&format!(
            "{bound}\nblocks = 64\nallocation = {{ kind = \"superblock\", parity = {{ stripe = {stripe} }} }}"
        ));
        let count = device.unit_count();
        device.precondition(3 * count, |number| number % count);
        device.restart_ledger();
        let seen = device.closed_loop(64, 4 * count, |number| unit(Op::Write, number % count));
        let (size, found) = (f64::from(stripe), device.report());
        let factor = size / (size - 1.0);
        let amplification = found.wear.as_ref().unwrap().write_amplification().unwrap();
        assert_close("amplification", amplification, factor, 0.001);
        assert_eq!(counter(&found, "units_cleaned"), 0);
        assert_close("writes a second", seen.per_second(), 4.0 / 500e-6 / factor, 0.01);
    }
}

#[test]
fn parity_takes_its_share_of_the_flash() {
    let shares = [
        ("", 1.0),
        ("allocation = { kind = \"superblock\", parity = {} }", 0.75),
        ("allocation = { kind = \"superblock\", parity = { stripe = 2 } }", 0.5),
    ];
    for (settings, share) in shares {
        let array = small(&format!("over_provisioning = \"140 %\"\n{settings}"), "greedy");
        let units = f64::from(array.geometry.units_per_superblock);
        assert_eq!(units, share * 4.0 * 64.0);
        assert_eq!(array.geometry.logical_units, 512 * 4 * 64 * 10 / 24, "what the host sees stays as it is");
    }
}

/// Creates a drive with data, submits writes of `units` units simultaneously, and cuts power at `at`. Returns
/// the recovery and the report.
fn failed(settings: &str, units: u64, at: Time) -> (Recovery, ComponentReport) {
    let settings = format!(
        "over_provisioning = \"140 %\"\nallocation = {{ kind = \"superblock\", parity = {{}} }}\nread_energy = \"25 uJ\"\nprogram_energy = \"150 uJ\"\n\
         erase_energy = \"500 uJ\"\ntransfer_energy = \"2 uJ\"\n{settings}"
    );
    let mut device = driven_with_bytes(&settings);
    (0..units).for_each(|number| _ = device.submit_bytes(Time::ZERO, number, 1));
    let recovery = device.fail(at);
    device.check_invariants();
    (recovery, device.report_over(recovery.done))
}

#[test]
fn a_loss_of_power_ends_or_cancels_parity_as_it_does_data() {
    let energy = |found: &ComponentReport, activity| {
        (resource(found, "dies").ledger.energy(activity).0 / 150e-6).round() as u64
    };
    // 24 pages are eight stripes. Each die has eight programs, and performs the second one.
    let at = Time::from_us(800);
    let (recovery, found) = failed("power_protected = false", 24, at);
    assert_eq!((recovery.programs_finished, recovery.programs_lost), (0, 24 - 3));
    assert_eq!((energy(&found, Activity::Drain), energy(&found, Activity::Correct)), (6, 2));
    assert_eq!(counter(&found, "flash_programs"), 8);
    // Capacitors complete the seven programs of each die that have not ended.
    let (recovery, found) = failed("", 24, at);
    assert_eq!(recovery.programs_finished, 28);
    assert_eq!((energy(&found, Activity::Drain), energy(&found, Activity::Correct)), (24, 8));
    // The buffer of 64 pages holds half of its pages back. The other pages are twelve stripes and two pages.
    let (recovery, found) = failed("buffer_kept = \"50 %\"", 38, Time::from_s(1));
    assert_eq!(recovery.programs_finished, 32 + 10);
    assert_eq!((energy(&found, Activity::Drain), energy(&found, Activity::Correct)), (38, 12));
}

#[test]
fn recovery_reads_the_pages_of_partial_stripes() {
    let at = Time::from_s(1);
    let took = |settings: &str, units| failed(settings, units, at).0.done - at;
    let page = READ + COMMAND + PAGE;
    for (units, pages) in [(9, 0), (10, 1), (11, 2)] {
        // Both pages fit into one round of the dies, and spare areas are read with them.
        let scanned = READ + Time::from_ns(300);
        let rounds = scanned * u64::div_ceil(units, 4) - scanned * u64::div_ceil(9, 4);
        let more = if pages > 0 { page } else { Time::ZERO };
        let unprotected = took("power_protected = false", units);
        assert_eq!(unprotected, took("power_protected = false", 9) + rounds + more, "{units}");
        assert_eq!(took("", units), took("", 9) + rounds, "capacitors keep it");
    }
}
