//! Tests of reclaim groups, which are subsets of the dies. Data stays in its group.

use super::*;
use nacre_testkit::cleaning_laws as laws;

/// Creates a drive of four dies in two reclaim groups, with `blocks` blocks per plane and additional
/// `settings`.
fn two_groups(blocks: u32, settings: &str) -> Driven {
    let allocation = "allocation = { kind = \"superblock\", reclaim_groups = 2 }";
    let allocation = if settings.contains("allocation") { "" } else { allocation };
    driven(&format!(
        "blocks = {blocks}\nover_provisioning = \"28 %\"\nbuffer = \"1 MiB\"\n{allocation}\n{settings}"
    ))
}

fn write(device: &mut Driven, volume: u32, number: u64) {
    device.precondition_with(&[Request { volume, ..unit(Op::Write, number) }]);
}

/// Writes random units, half of them through each group, and starts measurement in steady state.
fn write_half_each(device: &mut Driven) {
    let (count, mut random) = (device.unit_count(), random("halves"));
    for number in 0..count {
        write(device, (2 * number / count) as u32, number);
    }
    for number in 0..6 * count {
        let group = number % 2;
        write(device, group as u32, group * (count / 2) + random.below(count / 2));
        if number == 4 * count {
            device.restart_ledger();
        }
    }
    device.check_invariants();
}

/// Returns the valid data of each group, in superblocks.
fn live_of_groups(device: &Driven) -> [f64; 2] {
    let report = device.report();
    let live = &report.columns.iter().find(|column| column.name == "superblocks.valid_share").unwrap().values;
    let of_group = live.len() / 2;
    [live[..of_group].iter().sum(), live[of_group..].iter().sum()]
}

/// Returns the number of erases of the blocks on the dies of each group.
fn erases_of_groups(device: &Driven) -> [u64; 2] {
    let erases = device.report().wear.expect("it wears").block_erases;
    let of_group = erases.len() / 2;
    let sum = |erases: &[u32]| erases.iter().map(|&erases| u64::from(erases)).sum();
    [sum(&erases[..of_group]), sum(&erases[of_group..])]
}

#[test]
fn data_stays_in_the_group_that_its_placement_identifier_names() {
    for fdp in ["", "fdp = { initially_isolated = 2 }", "fdp = { persistently_isolated = 2 }"] {
        let mut device = two_groups(256, &format!("pages = 32\n{fdp}"));
        let handles = if fdp.is_empty() { 1 } else { 2 };
        let (count, mut random) = (device.unit_count() * 2 / 5, random("group"));
        // The identifiers of the second group follow those of the first.
        for number in 0..6 * count {
            let volume = handles + (number % u64::from(handles)) as u32;
            write(&mut device, volume, random.below(count));
        }
        device.check_invariants();
        let [first, second] = live_of_groups(&device);
        assert_eq!(first, 0.0, "{fdp}");
        assert!(second > 0.0);
        let [first, second] = erases_of_groups(&device);
        assert_eq!(first, 0, "{fdp}");
        assert!(second > 0, "GC moved data within its group");
        assert_eq!(device.counter("units_redirected"), 0);
    }
}

#[test]
fn a_group_amplifies_as_a_drive_of_its_dies() {
    let superblocks = 1024;
    let mut device = two_groups(superblocks, "garbage_collection.policy = \"fifo\"\npages = 64");
    write_half_each(&mut device);
    // In each group, the idle superblocks are the reserve, minus half of the superblock that garbage
    // collection reclaims, and half of each of two open superblocks.
    let idle = 4.5;
    let u = 1.0 / 1.28 * f64::from(superblocks) / (f64::from(superblocks) - idle);
    assert_close("both groups", device.amplification(), 1.0 + laws::fifo(u), 0.03);
    let [first, second] = erases_of_groups(&device);
    assert_close("alike", first as f64, second as f64, 0.02);
}

#[test]
fn a_group_programs_on_its_dies_alone() {
    let settings =
        "bus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"40 GB/s\"\nover_provisioning = \"100 %\"\nblocks = 64";
    let allocation = "allocation = { kind = \"superblock\", reclaim_groups = 2 }";
    for (groups, dies) in [(1, 2.0), (2, 4.0)] {
        let mut device = driven(&format!("{allocation}\n{settings}"));
        let writes = device.unit_count() / 2;
        let seen = device.closed_loop(128, writes, |number| Request {
            volume: (number % groups) as u32,
            ..unit(Op::Write, number)
        });
        // A program takes 500 us, and there is no garbage collection yet.
        assert_close("writes", seen.per_second(), dies / 500e-6, 0.03);
    }
}

#[test]
fn what_a_full_group_does_not_hold_goes_to_another_one() {
    let mut device = two_groups(64, "pages = 32");
    let count = device.unit_count();
    for number in 0..count {
        write(&mut device, 0, number);
    }
    let mut random = random("full");
    for _ in 0..4 * count {
        write(&mut device, 0, random.below(count));
    }
    device.check_invariants();
    let [first, second] = live_of_groups(&device);
    // The groups hold all data, in superblocks of 64 units.
    assert_close("data", first + second, count as f64 / 64.0, 1e-9);
    let redirected = device.counter("units_redirected");
    assert!(redirected >= count * 3 / 8, "{redirected} of {count}");
}

#[test]
fn stripes_with_parity_lie_in_their_group() {
    let settings = "blocks = 1024\npages = 128\ngarbage_collection.policy = \"fifo\"\nover_provisioning = \"180 %\"\nbuffer = \"1 MiB\"\n\
                    allocation = { kind = \"superblock\", reclaim_groups = 2, parity = {} }";
    let mut device = driven(settings);
    write_half_each(&mut device);
    // A stripe has one data operation and one parity operation.
    let u = 1.0 / 2.8 / 0.5 * 1024.0 / (1024.0 - 4.5);
    assert_close("parity", device.amplification(), (1.0 + laws::fifo(u)) / 0.5, 0.03);
}

#[test]
fn data_of_groups_survives_power_losses_with_its_parity_and_large_reclaim_units() {
    let settings = "blocks = 40\npages = 32\npower_protected = false\nover_provisioning = \"180 %\"\n\
                    allocation = { kind = \"superblock\", reclaim_groups = 2, reclaim_unit = 2, parity = {} }";
    let mut device = driven::driven_with_bytes(settings);
    let (count, mut random) = (device.unit_count().min(200), random("losses"));
    let mut bytes = vec![0; count as usize];
    for round in 0..12_u64 {
        for number in 0..150 {
            let (at, byte) = (random.below(count), random.below(255) as u8);
            let request = Request { volume: (number % 2) as u32, ..unit(Op::Write, at) };
            let number = device.submit_data(
                device.now,
                &request,
                nacre_kernel::event::Payload::from(vec![byte; 4096]),
            );
            device.answer(number);
            bytes[at as usize] = byte;
        }
        device.ask(device.now, &Request { op: Op::Flush, bytes: 0, ..unit(Op::Flush, 0) });
        let done = device.fail(device.now + Time::from_us(round)).done;
        device.run_to(done.max(device.now));
        for at in 0..count {
            assert_eq!(device.read_byte(device.now, at), bytes[at as usize], "unit {at} in round {round}");
        }
        device.check_invariants();
    }
}

#[test]
fn groups_that_do_not_divide_the_dies_are_refused() {
    let refused = problems("allocation = { kind = \"superblock\", reclaim_groups = 3 }");
    assert!(refused.contains("the nearest allowed: 4, 2"), "{refused}");
}

#[test]
fn stripes_that_do_not_fit_the_dies_of_a_group_are_refused() {
    let parity = |groups: u32, parity: &str| {
        problems(&format!(
            "allocation = {{ kind = \"superblock\", reclaim_groups = {groups}, parity = {parity} }}"
        ))
    };
    let refused = parity(4, "{}");
    assert!(refused.contains("and a reclaim group has one die"), "{refused}");
    assert!(refused.contains("give fewer reclaim_groups or more ways"), "{refused}");
    let refused = parity(2, "{ stripe = 4 }");
    assert!(refused.contains("the 2 dies of a reclaim group are not a whole number of stripes"), "{refused}");
    let refused = parity(1, "{ stripe = 3 }");
    assert!(refused.contains("the 4 dies are not a whole number of stripes"), "{refused}");
}
