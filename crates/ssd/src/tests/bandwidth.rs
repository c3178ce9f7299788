//! Compares peak bandwidths with bandwidths computed from the component rates.

use super::*;

/// Returns the bandwidth in bytes per second of `count` requests of `size` units at cyclic addresses, with
/// `depth` outstanding requests.
fn rate(device: &mut Driven, op: Op, depth: u32, size: u32, count: u64) -> f64 {
    let places = device.unit_count() / u64::from(size);
    let seen = device.closed_loop(depth, count, |number| units(op, number % places * u64::from(size), size));
    assert_eq!((seen.count(), seen.errors), (count, 0));
    device.check_invariants();
    let end = seen.end.as_secs_f64();
    (count * u64::from(size) * 4096) as f64 / end
}

#[test]
fn reads_are_limited_by_dies() {
    // Each of four dies programs or reads a page in 50 us.
    let mut device = driven("bus = \"4 GB/s\"\ncommand = \"0 s\"");
    let found = rate(&mut device, Op::Read, 64, 1, 20_000);
    assert_close("dies", found, 4.0 * 4096.0 / 50e-6, 0.01);
}

#[test]
fn reads_without_cached_commands_hold_their_die_until_the_page_is_across() {
    let mut device = driven("bus = \"400 MB/s\"\ncommand = \"0 s\"\nregisters = 1");
    let found = rate(&mut device, Op::Read, 64, 1, 20_000);
    // Each channel has two dies. A page of each die takes 60.24 us, and the channel is busy for 20.48 us.
    assert_close("dies and channels", found, 4.0 * 4096.0 / 60.24e-6, 0.01);
}

#[test]
fn reads_are_limited_by_channels() {
    // Each of two channels takes 40.96 us per 4096 B and 2 us per command. Four dies would allow a higher
    // rate.
    let mut device = driven("ways = 4\nbus = \"100 MB/s\"\ncommand = \"2 us\"");
    let found = rate(&mut device, Op::Read, 64, 1, 20_000);
    assert_close("channels", found, 2.0 * 4096.0 / 42.96e-6, 0.01);
}

#[test]
fn reads_and_writes_are_limited_by_the_link() {
    for op in [Op::Read, Op::Write] {
        let mut device = driven("link = \"20 MB/s\"\nbus = \"4 GB/s\"");
        let found = rate(&mut device, op, 64, 8, 2_000);
        assert_close("link", found, 20e6, 0.01);
    }
}

#[test]
fn reads_are_limited_by_processors_of_host_or_drive() {
    for (settings, limit) in [
        ("driver = \"20 us\"\ncpus = 2", 2.0 / 20e-6),
        ("firmware = \"20 us\"\nprocessors = 1", 1.0 / 20e-6),
        ("cpus = 1\ndriver = \"10 us\"\ntranslation = \"15 us\"", 1.0 / 25e-6),
        ("processors = 2\nfirmware = \"50 us\"", 2.0 / 50e-6),
    ] {
        let mut device = driven(&format!("{settings}\nways = 16\nbus = \"4 GB/s\""));
        let found = rate(&mut device, Op::Read, 64, 1, 20_000) / 4096.0;
        assert_close(settings, found, limit, 0.01);
    }
}

#[test]
fn the_depth_of_the_queue_is_kept() {
    // One request at a time takes 50 us, 10.54 us on the channel, and 1.024 us on the link.
    let mut device = driven("queue = { kind = \"shared\", depth = 1 }");
    let found = rate(&mut device, Op::Read, 64, 1, 2_000) / 4096.0;
    assert_close("one at a time", found, 1.0 / 61.564e-6, 0.01);
}

#[test]
fn writes_are_limited_by_programs_of_all_planes_of_all_dies() {
    for (settings, planes) in
        [("planes = 4\npages = 16", 4.0), ("planes = 4\npages = 16\nmulti_plane = false", 1.0)]
    {
        let mut device = driven(&format!("{settings}\nblocks = 4096\nbus = \"4 GB/s\"\ncommand = \"0 s\""));
        let found = rate(&mut device, Op::Write, 64, 4, 10_000);
        assert_close(settings, found, 4.0 * planes * 4096.0 / 500e-6, 0.02);
    }
}

#[test]
fn pages_of_a_word_line_take_their_own_times() {
    let mut device =
        driven("program = [\"200 us\", \"400 us\", \"900 us\"]\nbus = \"4 GB/s\"\ncommand = \"0 s\"");
    let found = rate(&mut device, Op::Write, 64, 4, 10_000);
    assert_close("programs", found, 4.0 * 4096.0 / 500e-6, 0.02);
    let mut device = driven("read = [\"20 us\", \"40 us\", \"90 us\"]\nbus = \"4 GB/s\"\ncommand = \"0 s\"");
    let found = rate(&mut device, Op::Read, 256, 1, 20_000);
    assert_close("reads", found, 4.0 * 4096.0 / 50e-6, 0.03);
}

#[test]
fn writes_are_limited_by_channels() {
    let mut device = driven("bus = \"10 MB/s\"\ncommand = \"100 us\"\nprogram = [\"300 us\"]");
    let found = rate(&mut device, Op::Write, 64, 4, 5_000);
    assert_close("channels", found, 2.0 * 4096.0 / (409.6e-6 + 100e-6), 0.02);
}

#[test]
fn without_cached_commands_a_program_begins_when_its_data_is_in() {
    // With one die per channel, transfers and programs alternate.
    let mut device = driven("ways = 1\npages = 128\nbus = \"40 MB/s\"\ncommand = \"0 s\"\nregisters = 1");
    let found = rate(&mut device, Op::Write, 64, 4, 5_000);
    assert_close("taking turns", found, 2.0 * 4096.0 / (500e-6 + 102.4e-6), 0.02);
    let mut device = driven("ways = 1\npages = 128\nbus = \"40 MB/s\"\ncommand = \"0 s\"");
    let found = rate(&mut device, Op::Write, 64, 4, 5_000);
    assert_close("overlapping", found, 2.0 * 4096.0 / 500e-6, 0.02);
}

#[test]
fn writes_in_steady_cleaning_take_the_dies_as_long_as_their_operations() {
    let (mut device, found, expected) = steady_writes("");
    assert_close("writes a second", found, expected, 0.05);
    let end = device.rest();
    let utilization = resource(&device.report(), "dies").utilization(end);
    assert!(utilization > 0.94, "{utilization}");
}

#[test]
fn a_read_takes_driver_processor_page_channel_and_link_and_says_so() {
    let mut device = driven("driver = \"5 us\"\nfirmware = \"2 us\"");
    let answer = device.ask(Time::ZERO, &unit(Op::Read, 9));
    // The driver and the drive processor form one span.
    let expected = [("software", 7e-6), ("read", 50e-6), ("transfer", 10.54e-6), ("link", 1.024e-6)];
    let found: Vec<_> =
        answer.spans.iter().map(|span| (span.activity.name(), span.time.as_secs_f64())).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((activity, time), (name, expected)) in found.iter().zip(expected) {
        assert_eq!(*activity, name);
        assert!((time - expected).abs() < 1e-9, "{name} takes {time}");
    }
    assert!((answer.done.as_secs_f64() - 68.564e-6).abs() < 1e-9);
}

#[test]
fn a_write_is_done_in_the_buffer_until_that_is_full() {
    // 64 operations of one unit are outstanding: 63 are in progress, and one is open.
    let mut device = driven("program = [\"1 s\"]");
    device.write_all(Time::ZERO, 0..65);
    device.rest();
    for number in 0..64 {
        let done = device.seen(number).done;
        assert!(done < Time::from_ms(1), "write {number} is done at {done}");
    }
    assert!(device.seen(64).done > Time::from_s(1));
}

#[test]
fn buffered_units_are_read_from_the_buffer() {
    let mut device = driven("planes = 4\npages = 16");
    let read = |device: &mut Driven, at| {
        let done = device.ask(at, &unit(Op::Read, 7)).done;
        (done - at).as_secs_f64()
    };
    device.ask(Time::ZERO, &unit(Op::Write, 7));
    assert!(read(&mut device, Time::from_us(2)) < 2e-6, "the operation is not full");
    device.write_all(Time::from_us(10), 8..11);
    assert!(read(&mut device, Time::from_us(300)) < 2e-6, "the operation is being programmed");
    assert!(read(&mut device, Time::from_us(3000)) > 50e-6, "it is in the flash");
    assert_eq!(device.counter("buffer_hits"), 2);
}
