//! Compares shares of a drive with the whole drive: price, power, capacity, and lifetime.

use super::*;
use nacre_kernel::Bytes;

const PRICED: &str = "price = \"2 /GiB\"\nidle_power = \"8 W\"\nread_energy = \"1 uJ\"\nprogram_energy = \"1 uJ\"\n\
                      erase_energy = \"1 uJ\"\ntransfer_energy = \"1 uJ\"\nendurance = 1000\nspare_blocks = 16\n";

/// Returns properties of a drive or a share: capacity in units, price, idle energy over 1,000 s, write
/// amplification, and lifetime in days. The last two properties result from random writes: in 1,000 s, each
/// unit is written `turnovers` times on average.
fn bought(settings: &str, turnovers: u64) -> (u64, f64, f64, f64, f64) {
    let mut device = driven(&format!("{PRICED}{settings}"));
    let count = device.unit_count();
    let mut random = random("share");
    device.precondition(3 * count, |_| random.below(count));
    device.restart_ledger();
    device.precondition(turnovers * count, |_| random.below(count));
    device.check_invariants();
    let report = device.report_over(Time::from_us(1_000_000_000));
    let amplification = report.wear.as_ref().and_then(|wear| wear.write_amplification()).expect("writes");
    let idle = report.idle_energy.expect("it has an idle power").0;
    let days = report.lifetime_days.expect("it has an endurance");
    (count, report.cost.expect("it has a price"), idle, amplification, days)
}

#[test]
fn shares_of_a_drive_add_up_to_the_drive() {
    let (units, cost, idle, amplification, days) = bought("", 2);
    assert_eq!((units, idle), (102_400, 8_000.0));
    assert_close("400 MiB at 2 /GiB", cost, 2.0 * 400.0 / 1024.0, 1e-9);
    assert!(amplification > 2.0, "{amplification}");
    for (parts, capacity) in [(1, "400 MiB"), (2, "200 MiB"), (4, "100 MiB"), (5, "80 MiB"), (8, "50 MiB")] {
        let share = bought(&format!("capacity = \"{capacity}\""), 2);
        assert_eq!(share.0 * parts, units, "{capacity}");
        assert_close("costs add up", share.1 * parts as f64, cost, 1e-9);
        assert_close("powers add up", share.2 * parts as f64, idle, 1e-9);
        // Six superblocks are erased or open both in each share and in the whole drive, so a share has less
        // spare space. With FIFO, the write amplification is about (1 + spare) / (2 spare). With greedy
        // garbage collection, it increases less.
        let blocks = (1.28 * 400.0 / parts as f64).ceil();
        let fifo = |blocks: f64, data: f64| (blocks - 6.0) / (blocks - 6.0 - data);
        let most = fifo(blocks, 400.0 / parts as f64) / fifo(512.0, 400.0);
        let more = share.3 / amplification;
        assert!((0.98..=1.02 * most).contains(&more), "{capacity} is cleaned as the whole: {more}, {most}");
        // The lifetime is shorter by the same factor. The tolerance allows for a whole number of blocks.
        let shorter = share.4 / days;
        assert!((0.96 / most..1.04).contains(&shorter), "{capacity} lasts as the whole: {shorter}, {most}");
    }
}

#[test]
fn a_share_has_its_part_of_the_mapping_cache_and_the_slc_cache() {
    let of = |capacity: &str| {
        driven(&format!("mapping = {{ kind = \"cached_pages\", size = \"64 KiB\" }}\n{capacity}"))
    };
    let misses = |capacity: &str| {
        let mut device = of(capacity);
        let count = device.unit_count();
        let mut random = random("mapped");
        device.precondition(count, |number| number);
        device.restart_ledger();
        device.closed_loop(1, 20_000, |_| unit(Op::Read, random.below(count)));
        device.counter("mapping_misses") as f64 / 20_000.0
    };
    // The cache holds 16 of 100 pages of the mapping table, and 4 of 25.
    assert_close("misses of the whole", misses(""), 0.84, 0.02);
    assert_close("misses of a quarter", misses("capacity = \"100 MiB\""), 0.84, 0.02);
    assert_eq!(of("capacity = \"100 MiB\"").report().drive_share, Some(0.25));
}

#[test]
fn an_invalid_share_is_rejected_with_the_valid_range() {
    assert!(problems("capacity = \"401 MiB\"").contains("the whole drive holds 400 MiB"));
    assert!(problems("capacity = \"4097 B\"").contains("the nearest below is 4 KiB"));
    let small = problems("capacity = \"1 MiB\"");
    assert!(small.contains("superblocks of 1 MiB") && small.contains("in such a small share"), "{small}");
    let least =
        small.split("give at least ").nth(1).and_then(|rest| rest.split(',').next()).expect("a least");
    let device = driven(&format!("capacity = \"{least}\""));
    assert!(device.device.capacity().is_some_and(|capacity| capacity < Bytes(40 << 20)), "{least}");
}
