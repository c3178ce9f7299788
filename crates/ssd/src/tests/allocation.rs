//! Tests of allocation by plane. The address of a page selects its plane, or the plane is on the die that
//! is free first.

use super::*;
use nacre_testkit::cleaning_laws as laws;

/// Settings of a drive with two channels, two dies per channel, and two planes per die. The flash limits
/// the bandwidth.
const PLANES: &str = "planes = 2\nbus = \"4 GB/s\"\ncommand = \"0 s\"\nlink = \"40 GB/s\"";

/// Returns the steady-state write amplification under uniform writes to a die of two planes.
fn amplification(allocation: &str, over_provisioning: f64) -> f64 {
    let settings = format!(
        "channels = 1\nways = 1\nplanes = 2\npages = 512\nblocks = 1024\nallocation = \"{allocation}\"\n\
         over_provisioning = \"{over_provisioning} %\""
    );
    let mut device = driven(&settings);
    let count = device.unit_count();
    device.precondition(count, |number| number);
    let mut random = random("amplification");
    device.precondition(5 * count / 2, |_| random.below(count));
    device.restart_ledger();
    device.precondition(3 * count / 2, |_| random.below(count));
    device.check_invariants();
    device.amplification()
}

#[test]
fn each_plane_amplifies_writes_as_a_drive_of_its_spare_factor() {
    // As in the drive with superblocks, 4.5 blocks of a plane hold no data. A block has 512 pages. With few
    // pages per block, greedy garbage collection finds better victims than the closed form assumes.
    for over_provisioning in [12.0, 50.0] {
        let u = 1.0 / (1.0 + over_provisioning / 100.0) * 1024.0 / (1024.0 - 4.5);
        let law = 1.0 + laws::fifo(u);
        for allocation in ["static", "dynamic"] {
            let found = amplification(allocation, over_provisioning);
            assert_close(&format!("{allocation} at {over_provisioning} %"), found, law, 0.03);
        }
    }
}

/// Returns the bandwidth in bytes per second of `count` requests of one unit to `address`, with 64
/// outstanding requests.
fn rate(device: &mut Driven, op: Op, address: impl Fn(u64) -> u64) -> f64 {
    const COUNT: u64 = 20_000;
    let places = device.unit_count();
    let seen = device.closed_loop(64, COUNT, |number| unit(op, address(number) % places));
    assert_eq!((seen.count(), seen.errors), (COUNT, 0));
    device.check_invariants();
    COUNT as f64 * 4096.0 / seen.end.as_secs_f64()
}

#[test]
fn reads_in_sequence_use_all_dies_of_a_drive_that_was_written_in_sequence() {
    for allocation in ["static", "dynamic", "superblock"] {
        let mut device = driven(&format!("{PLANES}\nallocation = \"{allocation}\""));
        device.precondition(20_000, |number| number);
        let found = rate(&mut device, Op::Read, |number| number);
        assert_close(allocation, found, 4.0 * 4096.0 / 50e-6, 0.02);
    }
}

#[test]
fn a_stride_over_channels_has_the_bandwidth_of_one_channel_under_static_allocation() {
    // Every other unit is accessed. With static allocation, all of these units are on one of two channels,
    // whose two dies program a page in 500 us.
    for (allocation, dies) in [("static", 2.0), ("dynamic", 4.0), ("superblock", 4.0)] {
        let settings = format!("{PLANES}\nmulti_plane = false\nallocation = \"{allocation}\"");
        let mut device = driven(&settings);
        let written = rate(&mut device, Op::Write, |number| 2 * number);
        assert_close(&format!("writes, {allocation}"), written, dies * 4096.0 / 500e-6, 0.02);
        let mut device = driven(&settings);
        device.precondition(20_000, |number| 2 * number);
        let read = rate(&mut device, Op::Read, |number| 2 * number);
        assert_close(&format!("reads, {allocation}"), read, dies * 4096.0 / 50e-6, 0.02);
    }
}

#[test]
fn a_drive_by_plane_in_steady_cleaning_takes_its_dies_as_long_as_their_operations() {
    for allocation in ["static", "dynamic"] {
        let places = "buffer = \"4 MiB\"\nbuffer_places = \"pool\"";
        let (_, found, expected) = steady_writes(&format!("{places}\nallocation = \"{allocation}\""));
        assert_close(&format!("writes a second, {allocation}"), found, expected, 0.05);
    }
}

/// Returns the time at which the programs of four pages have ended. The pages are written together and
/// alternate between the two planes of a die.
fn four_pages(settings: &str) -> Time {
    let die = "channels = 1\nways = 1\nplanes = 2\nallocation = { kind = \"static\", order = \"pcw\" }";
    let mut device = driven(&format!("{die}\n{settings}"));
    device.write_all(Time::ZERO, 0..4);
    let end = device.rest();
    device.check_invariants();
    let report = device.report();
    let busy = Time::from_secs_f64(resource(&report, "dies").ledger.total_busy_s());
    assert!(busy <= end, "the die is busy for {busy} of {end}");
    assert_eq!(counter(&report, "units_host"), 4);
    end
}

#[test]
fn pages_of_two_planes_that_wait_with_the_same_number_are_programmed_together() {
    // The first page crosses the link and starts alone. The second page, in the other plane, arrives too late
    // to join it. The third and fourth pages wait.
    let (link, crossing, program) = (Time::from_ns(1024), Time::from_ns(10_540), Time::from_us(500));
    assert_eq!(four_pages(""), link + crossing + program * 3);
    assert_eq!(four_pages("multi_plane = false"), link + crossing + program * 4);
    // Without cached commands, the data of both pages is transferred before they are programmed.
    assert_eq!(four_pages("registers = 1"), link + crossing * 4 + program * 3);
    assert_eq!(four_pages("registers = 1\nmulti_plane = false"), link + crossing * 4 + program * 4);
}

#[test]
fn a_page_does_not_join_one_that_begins_before_its_data_is_there() {
    // The die has four planes. The second group of four pages arrives together. Its first page starts alone,
    // and the others are programmed together.
    let die = "channels = 1\nways = 1\nplanes = 4\nallocation = { kind = \"static\", order = \"pcw\" }";
    let mut device = driven(die);
    (0..4).for_each(|number| _ = device.submit(Time::from_ms(number), &unit(Op::Write, number)));
    let start = Time::from_ms(10);
    device.write_all(start, 4..8);
    let (link, crossing, program) = (Time::from_ns(1024), Time::from_ns(10_540), Time::from_us(500));
    assert_eq!(device.rest(), start + link + crossing + program * 2);
    device.check_invariants();
}

#[test]
fn writes_in_sequence_to_planes_in_turn_use_all_of_them() {
    for (settings, each) in [("", 500e-6), ("registers = 1", 500e-6 + 2.0 * 1.024e-6)] {
        // The buffer size determines how many pages wait for a die.
        for buffer in ["256 KiB", "8 MiB"] {
            let order = "allocation = { kind = \"static\", order = \"pcw\" }\nbuffer_places = \"pool\"";
            let mut device = driven(&format!("{PLANES}\n{order}\nbuffer = \"{buffer}\"\n{settings}"));
            let found = rate(&mut device, Op::Write, |number| number);
            let filled = if buffer == "8 MiB" { 20_000.0 / (20_000.0 - 2048.0) } else { 1.0 };
            assert_close(&format!("{settings} {buffer}"), found, filled * 4.0 * 2.0 * 4096.0 / each, 0.03);
        }
    }
}

#[test]
fn pages_that_cross_one_after_the_other_hold_their_die_that_long_and_no_longer() {
    // Two pages are transferred in 10.54 us each. Then both are programmed.
    for buffer in ["64 KiB", "512 KiB"] {
        let die = "channels = 1\nways = 1\nplanes = 2\nallocation = { kind = \"static\", order = \"pcw\" }";
        let mut device =
            driven(&format!("{die}\nregisters = 1\nbuffer_places = \"pool\"\nbuffer = \"{buffer}\""));
        const COUNT: u64 = 4_000;
        _ = device.closed_loop(64, COUNT, |number| unit(Op::Write, number));
        let found = device.rest().as_secs_f64();
        assert_close(buffer, found, COUNT as f64 / 2.0 * (500e-6 + 2.0 * 10.54e-6), 0.01);
        device.check_invariants();
    }
}

#[test]
fn dies_that_are_free_first_fill_their_planes_in_turn() {
    // Both planes of a die then have the same next page number, and are programmed together.
    let mut device = driven(&format!("{PLANES}\nallocation = \"dynamic\"\nbuffer_places = \"pool\""));
    let found = rate(&mut device, Op::Write, |number| number);
    assert_close("writes", found, 4.0 * 2.0 * 4096.0 / 500e-6, 0.03);
}

#[test]
fn a_copy_inside_a_plane_takes_its_read_and_program_and_no_channel() {
    for copyback in [false, true] {
        // The transfer of a page takes 409.6 us, and that of its command takes 10 us. The eight dies need
        // less time than that.
        let settings = format!(
            "channels = 1\nways = 8\nbus = \"10 MB/s\"\ncommand = \"10 us\"\nlink = \"40 GB/s\"\npages = 128\nblocks = 128\n\
             buffer = \"512 KiB\"\nbuffer_places = \"pool\"\nallocation = {{ kind = \"static\", copyback = {copyback} }}"
        );
        let mut device = driven(&settings);
        let count = device.unit_count();
        let mut random = random("steady");
        device.precondition(3 * count, |_| random.below(count));
        device.restart_ledger();
        let seen = device.closed_loop(64, count / 4, |_| unit(Op::Write, random.below(count)));
        device.rest();
        let report = device.report();
        let wear = report.wear.as_ref().unwrap();
        let copies = wear.cleaned as f64 / wear.host as f64;
        assert!(copies > 0.5, "{copies} copies for each write");
        let busy = |name| resource(&report, name).ledger.total_busy_s() / wear.host as f64;
        let crossing = if copyback { 10e-6 } else { 419.6e-6 };
        let of_channel = 419.6e-6 + copies * 2.0 * crossing;
        assert_close("the channel for a write", busy("channels"), of_channel, 0.005);
        let of_dies = (1.0 + copies) * 500e-6 + copies * 50e-6 + (1.0 + copies) / 128.0 * 3e-3;
        assert_close("the dies for a write", busy("dies"), of_dies, 0.02);
        // The channel is the bottleneck. If copies do not cross it, the channel is sometimes idle while dies
        // erase.
        let within = if copyback { 0.08 } else { 0.02 };
        assert_close("writes a second", seen.per_second(), 1.0 / of_channel, within);
    }
}

#[test]
fn settings_that_exclude_allocation_by_plane_are_rejected() {
    for (settings, expected) in [
        (
            "allocation = \"static\"\npage = \"8 KiB\"\nfdp = { initially_isolated = 2 }\nbuffer = \"64 KiB\"",
            "one open operation for each plane and placement handle",
        ),
        (
            "allocation = \"static\"\ngarbage_collection.policy = \"hybrid\"",
            "a policy with partitions decides itself",
        ),
        (
            "allocation = { kind = \"static\", copyback = true }\npage = \"8 KiB\"",
            "leave it out, or use units of 8 KiB",
        ),
        ("allocation = \"static\"\npages = 32", "a block has 32 units, and 64 are the fewest"),
        ("allocation = \"static\"\npage = \"8 KiB\"\nbuffer = \"32 KiB\"", "give at least 40 KiB"),
    ] {
        let found = problems(settings);
        assert!(found.contains(expected), "{settings}: {expected} is not in\n{found}");
    }
}

#[test]
fn a_page_goes_to_the_die_that_is_free_first() {
    // The first four pages are assigned to the four dies, and the fifth to the die whose program is fast.
    let mut device = driven(
        "allocation = \"dynamic\"\nprogram = [\"500 us\", \"100 us\"]\nbus = \"4 GB/s\"\ncommand = \"0 s\"",
    );
    (0..4).for_each(|number| _ = device.submit(Time::from_us(number), &unit(Op::Write, number)));
    // All dies program their slow page until 500 us. The second round ends 100 us later in the same order.
    device.write_all(Time::from_us(10), 4..8);
    let busy = device.rest();
    assert!(busy > Time::from_us(600) && busy < Time::from_us(620), "{busy}");
}
