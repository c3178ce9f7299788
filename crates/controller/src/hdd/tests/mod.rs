mod scheduling;

use crate::workbench::{Workbench, workbench};
use nacre_kernel::event::{Completions, Device, Payload};
use nacre_kernel::{Activity, Energy, Op, Request, Streams, Time};
use nacre_testkit::{Host, assert_close, closed_loop};

const DRIVE: &str = "kind = \"hdd\"\ncapacity = \"600 GB\"\nrotation = \"15000 /min\"\nheads = 8\n\
    track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
    outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\n";

const BLOCK: u32 = 4096;
const BLOCKS: u64 = 600_000_000_000 / 4096;

fn drive(options: &str) -> Box<dyn Device> {
    workbench(1).build(&format!("{DRIVE}{options}")).expect("the test's drive is legal")
}

fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}

fn host(options: &str) -> Host {
    Host::new(drive(options))
}

#[test]
fn random_reads_take_seek_half_a_turn_and_transfer() {
    let mut disk = drive("");
    let mut random = Streams::new(2).stream("addresses");
    let seen = closed_loop(&mut *disk, 1, 100_000, |_| request(Op::Read, random.below(BLOCKS) * 4096, BLOCK));
    assert_close("mean service", seen.mean_s(), 3.4e-3 + 2e-3 + 4096.0 / 160e6, 0.01);
    let mut queued = drive("");
    let seen =
        closed_loop(&mut *queued, 16, 50_000, |_| request(Op::Read, random.below(BLOCKS) * 4096, BLOCK));
    assert_close("requests per second", seen.per_second(), 1.0 / (5.4e-3 + 4096.0 / 160e6), 0.01);
    assert_close("latency", seen.mean_s(), 16.0 / seen.per_second(), 0.01);
}

#[test]
fn a_stream_gets_the_rate_of_its_zone() {
    for (first, rate) in [(0, 200e6), (BLOCKS - 250_000, 120e6)] {
        let mut disk = drive("");
        let seen = closed_loop(&mut *disk, 1, 20_000, |number| {
            request(Op::Read, (first + number * 12) * 4096, 12 * BLOCK)
        });
        assert_close("bytes per second", seen.per_second() * 12.0 * 4096.0, rate, 0.01);
    }
}

#[test]
fn reading_ahead_lets_a_thoughtful_reader_keep_the_stream() {
    let think = Time::from_us(100);
    let run = |options: &str| {
        let mut disk = host(options);
        let mut now = Time::ZERO;
        for number in 0..2000 {
            now = now + disk.latency(now, request(Op::Read, number * 65_536, 65_536)) + think;
        }
        (now, disk.count("read_ahead_hits"))
    };
    let (plain, hits) = run("");
    assert_eq!(hits, 0);
    let turn_and_transfer = 4e-3 + 65_536.0 / 200e6;
    assert_close("every read waits for the next turn", plain.as_secs_f64(), 2000.0 * turn_and_transfer, 0.01);
    let (ahead, hits) = run("read_ahead = \"1 MiB\"");
    assert_eq!(hits, 1999);
    assert_close("the platter is the limit", ahead.as_secs_f64(), 2000.0 * 65_536.0 / 200e6, 0.01);
}

#[test]
fn a_paused_read_ahead_goes_on_with_the_next_turn() {
    let mut disk = host("read_ahead = \"128 KiB\"");
    let mut now = disk.latency(Time::ZERO, request(Op::Read, 0, 65_536)) + Time::from_s(1);
    let link = Time::from_secs_f64(65_536.0 / 600e6);
    for number in 1..=2 {
        let found = disk.latency(now, request(Op::Read, number * 65_536, 65_536));
        assert_eq!(found, link, "read {number} is in the buffer");
        now += found;
    }
    let found = disk.latency(now, request(Op::Read, 3 * 65_536, 65_536));
    assert!(found > link, "the third is not");
    assert!(found < Time::from_ms(5), "it is on its way: at most one turn and its transfer");
    let far = disk.latency(now + found, request(Op::Read, 300_000_000_000, BLOCK));
    assert!(far > Time::from_ms(2), "another place needs a seek");
}

#[test]
fn a_write_cache_acknowledges_until_it_is_full() {
    let mut disk = host("write_cache = \"64 KiB\"");
    let link = Time::from_secs_f64(4096.0 / 600e6);
    let mut random = Streams::new(2).stream("addresses");
    let mut write = || request(Op::Write, random.below(BLOCKS) * 4096, BLOCK);
    let writes: Vec<usize> = (0..17).map(|_| disk.submit(Time::ZERO, write())).collect();
    let flush = disk.submit(Time::ZERO, request(Op::Flush, 0, 0));
    for (&number, before) in writes[..16].iter().zip(1..) {
        assert_eq!(disk.wait(number).latency, link * before, "one after the other over the interface");
    }
    assert!(disk.wait(writes[16]).latency > Time::from_us(500), "the seventeenth waits for room");
    let flushed = disk.wait(flush).at;
    assert!(flushed > Time::from_ms(17 * 3), "a flush waits for seventeen random writes, took {flushed}");
    assert_eq!(disk.latency(flushed, request(Op::Flush, 0, 0)), Time::ZERO);
    assert_eq!(disk.latency(flushed, write()), link);
    assert_eq!(host("").latency(Time::ZERO, request(Op::Flush, 0, 0)), Time::ZERO);
    // Over a long time, the arm is the bottleneck, as without a cache.
    let rate = |options: &str| {
        let mut random = Streams::new(3).stream("addresses");
        let next = |_| request(Op::Write, random.below(BLOCKS) * 4096, BLOCK);
        closed_loop(&mut *drive(options), 1, 5_000, next).per_second()
    };
    assert_close("sustained rate", rate("write_cache = \"64 KiB\""), rate(""), 0.02);
}

#[test]
fn energy_is_power_by_time() {
    let mut disk = drive("idle_power = \"10 W\"\nseek_power = \"16 W\"\nactive_power = \"13 W\"");
    let mut random = Streams::new(2).stream("addresses");
    let seen = closed_loop(&mut *disk, 1, 1_000, |_| request(Op::Read, random.below(BLOCKS) * 4096, BLOCK));
    let report = disk.report(seen.end);
    let busy = |activity| report.busy_s(activity);
    let energy = |activity| report.energy(activity).0;
    assert_close("seek", energy(Activity::Seek), 6.0 * busy(Activity::Seek), 1e-9);
    assert_close("rotate", energy(Activity::Rotate), 3.0 * busy(Activity::Rotate), 1e-9);
    assert_close("transfer", energy(Activity::Transfer), 3.0 * busy(Activity::Transfer), 1e-9);
    assert_eq!(report.idle_energy, Some(Energy(10.0 * seen.end.as_secs_f64())));
    let arm = &report.resources[0];
    assert_eq!(
        arm.ledger.total_busy_s(),
        seen.end.as_secs_f64(),
        "one request at a time: the arm is always busy"
    );
}

#[test]
fn the_interface_is_a_resource_of_its_own() {
    let mut disk = host("read_ahead = \"1 MiB\"");
    let first = disk.latency(Time::ZERO, request(Op::Read, 0, 65_536));
    let now = first + Time::from_s(1);
    let link = Time::from_secs_f64(65_536.0 / 600e6);
    let reads: Vec<usize> =
        (1..=8).map(|number| disk.submit(now, request(Op::Read, number * 65_536, 65_536))).collect();
    for (read, number) in reads.into_iter().zip(1..) {
        assert_eq!(disk.wait(read).latency, link * number, "buffered reads cross one after the other");
    }
    let report = disk.device.report(now + link * 8);
    let [arm, interface] = &report.resources[..] else { panic!("two resources: {:?}", report.resources) };
    assert_eq!((arm.name, interface.name), ("arm", "interface"));
    assert_eq!(interface.ledger.total_busy_s(), (link * 8).as_secs_f64());
    assert_eq!(arm.ledger.busy_s(Activity::Link), 0.0);
    assert_eq!(disk.now, now + link * 8);
}

#[test]
fn what_was_read_ahead_before_measuring_began_is_not_charged() {
    let mut disk = host("read_ahead = \"1 MiB\"");
    let now = disk.latency(Time::ZERO, request(Op::Read, 0, 65_536)) + Time::from_s(1);
    disk.run(now);
    disk.device.restart_ledger(now);
    let end =
        (1..=8).fold(now, |now, number| now + disk.latency(now, request(Op::Read, number * 65_536, 65_536)));
    disk.rest();
    let elapsed = end.max(disk.now) - now;
    for resource in disk.device.report(elapsed).resources {
        assert!(resource.utilization(elapsed) <= 1.0, "{}: {}", resource.name, resource.utilization(elapsed));
    }
}

#[test]
fn a_drive_is_busy_until_its_last_buffered_write_is_on_the_platter() {
    let mut disk = host("write_cache = \"64 KiB\"");
    let write = disk.submit(Time::ZERO, request(Op::Write, 300_000_000_000, BLOCK));
    let done = disk.wait(write).at;
    let flush = disk.submit(done, request(Op::Flush, 0, 0));
    let written = disk.wait(flush).at;
    assert!(written > done + Time::from_ms(1), "the write needs a seek");
    let mut alone = host("write_cache = \"64 KiB\"");
    alone.submit(Time::ZERO, request(Op::Write, 300_000_000_000, BLOCK));
    alone.rest();
    assert_eq!(alone.now, written, "nothing happens after that");
}

#[test]
fn a_cached_write_survives_a_loss_of_power_from_when_it_is_on_the_platter() {
    const AT: u64 = 300_000_000_000;
    let written = |options: &str| {
        let mut disk = host(options);
        let write = disk.submit(Time::ZERO, request(Op::Write, AT, BLOCK));
        let done = disk.wait(write).at;
        disk.rest();
        (done, disk.now)
    };
    let found_after = |options: &str, at: Time| {
        let bench = workbench(1).with_bytes().build(&format!("{DRIVE}{options}"));
        let mut disk = Host::new(bench.expect("it is legal"));
        let bytes = vec![1; BLOCK as usize];
        disk.submit_with(Time::ZERO, request(Op::Write, AT, BLOCK), bytes.into());
        // Events at exactly that time are included.
        let at = at + Time::from_ps(1);
        disk.run(at);
        disk.device.power_fail(at, &mut Streams::new(1).stream("chance"));
        let ready = disk.device.recover(at).done;
        let (_, _, found) = disk.ask(ready, request(Op::Read, AT, BLOCK), Payload::NONE);
        found.bytes().expect("a read has bytes").to_vec()
    };
    let cached = "write_cache = \"64 KiB\"";
    let (done, on_platter) = written(cached);
    assert!(done < on_platter);
    assert_eq!(found_after(cached, done), [0; BLOCK as usize], "it was in the cache");
    assert_eq!(found_after(cached, on_platter), [1; BLOCK as usize]);
    let (done, _) = written("");
    assert_eq!(
        found_after("", done),
        [1; BLOCK as usize],
        "nothing is acknowledged before the platter has it"
    );
}

#[test]
fn a_cataloged_drive_meets_its_datasheet() {
    let toml = Workbench::cataloged(include_str!("../../../../../catalog/devices/disk_15k.toml"));
    let mean = |op| {
        let mut disk = workbench(1).build(&toml).expect("the catalog is legal");
        let blocks = disk.capacity().expect("a disk has a capacity").0 / 4096;
        let mut random = Streams::new(2).stream("addresses");
        closed_loop(&mut *disk, 1, 50_000, |_| request(op, random.below(blocks) * 4096, BLOCK)).mean_s()
    };
    assert_close("random read", mean(Op::Read), 3.4e-3 + 2e-3 + 4096.0 / 169.75e6, 0.01);
    assert_close("random write", mean(Op::Write), 3.9e-3 + 2e-3 + 4096.0 / 169.75e6, 0.01);
}

#[test]
fn impossible_drives_are_refused_with_a_remedy() {
    let refused = |from: &str, to: &str| {
        let toml = DRIVE.replace(from, to);
        workbench(1).build(&toml).err().expect("it is refused").to_string()
    };
    assert_eq!(
        refused("\"3.4 ms\"", "\"5 ms\""),
        "device.average_seek (test.toml:7): no seek curve has these three times, given 5 ms; \
         with these track-to-track and full-stroke seeks, use a value from 2.333333334 ms to 3.613333333 ms"
    );
    assert!(refused("\"120 MB/s\"", "\"220 MB/s\"").contains("it is above outer_rate"));
    let power = "heads = 8\nidle_power = \"10 W\"\n";
    for (given, missing) in [
        ("seek_power = \"16 W\"", "active_power"),
        ("active_power = \"16 W\"", "seek_power"),
        ("", "seek_power, active_power"),
    ] {
        let alone = refused("heads = 8", &format!("{power}{given}"));
        let expected =
            format!("energy also needs {missing}, given 10 W; also set {missing}, or none of them");
        assert!(alone.contains(&expected), "{alone}");
    }
    let slow = DRIVE.replace("\"200 MB/s\"", "\"20 kB/s\"").replace("\"120 MB/s\"", "\"10 kB/s\"");
    let large = workbench(1).build(&slow).err().expect("it is refused").to_string();
    assert!(large.contains("device.capacity") && large.contains("the largest allowed is"), "{large}");
    assert!(
        refused("heads = 8", "heads = 8\nseek_power = \"9 W\"").contains("also set idle_power, active_power")
    );
    let low = refused(
        "heads = 8",
        "heads = 8\nseek_power = \"9 W\"\nactive_power = \"12 W\"\nidle_power = \"10 W\"",
    );
    assert!(low.contains("it includes idle power: at least 10 W"), "{low}");
}

/// The idle energies of shares that make up a whole drive add up to the idle energy of the drive.
#[test]
fn shares_of_a_drive_idle_together_as_the_drive_does() {
    let powers = "idle_power = \"10 W\"\nseek_power = \"14 W\"\nactive_power = \"12 W\"\n";
    let idle = |options: &str| {
        let text = DRIVE.replace("600 GB", options) + powers + "drive = \"600 GB\"\n";
        let report = workbench(1).build(&text).expect("it is legal").report(Time::from_s(100));
        (report.idle_energy.expect("its power is known").0, report.drive_share)
    };
    assert_eq!(idle("600 GB"), (1000.0, Some(1.0)));
    let [half, rest] = ["300 GB", "150 GB"].map(|capacity| idle(capacity).0);
    assert_close("shares", half + 2.0 * rest, 1000.0, 1e-12);
    assert_eq!(idle("150 GB").1, Some(0.25));
}

/// Tests the time and energy of spin-ups. The drive serves one read every ten seconds, and the platters stop
/// one second after each read. The next read waits two seconds until the platters have spun up. A spin-up
/// takes 50 J.
#[test]
fn platters_that_stand_take_time_and_energy_to_turn() {
    let powers = "idle_power = \"9 W\"\nseek_power = \"9 W\"\nactive_power = \"9 W\"\nstandby = { after = \"1 s\", \
        power = \"1 W\", spin_up = \"2 s\", spin_up_energy = \"50 J\" }\n";
    let mut disk = host(powers);
    disk.latency(Time::ZERO, request(Op::Read, 0, BLOCK));
    for read in 1..=10 {
        let found = disk.latency(Time::from_s(10 * read), request(Op::Read, 0, BLOCK));
        assert!(found >= Time::from_s(2) && found < Time::from_ms(2_020), "{found}");
    }
    let report = disk.device.report(Time::from_s(110));
    assert_eq!(disk.count("spin_ups"), 10);
    assert_eq!(report.energy(Activity::SpinUp), Energy(500.0));
    assert_close("spinning up", report.busy_s(Activity::SpinUp), 20.0, 1e-9);
    // The drive is in standby for 9 s after the first read, and for 7 s after each read that waited 2 s.
    let standing = 9.0 + 9.0 * 7.0;
    let idle = report.idle_energy.expect("the power is given").0;
    assert_close("idling and standing", idle, 9.0 * (110.0 - standing) + standing, 0.01);
}

/// A configuration is rejected if only some of the powers and energies are given. Standby can also be modeled
/// without any power or energy.
#[test]
fn a_drive_that_stands_has_all_energies_or_none() {
    let standby = |energies: &str| format!("standby = {{ after = \"1 s\", spin_up = \"2 s\"{energies} }}\n");
    let turning = "idle_power = \"9 W\"\nseek_power = \"9 W\"\nactive_power = \"9 W\"\n";
    let [power, energy] = [", power = \"1 W\"", ", spin_up_energy = \"50 J\""];
    for (settings, missing, given) in [
        (standby(power), "idle_power, seek_power, active_power, standby.spin_up_energy", "1 W"),
        (standby(energy), "idle_power, seek_power, active_power, standby.power", "50 J"),
        (standby(&format!("{power}{energy}")), "idle_power, seek_power, active_power", "1 W"),
        (format!("{turning}{}", standby("")), "standby.power, standby.spin_up_energy", "9 W"),
        (format!("{turning}{}", standby(power)), "standby.spin_up_energy", "9 W"),
        (format!("{turning}{}", standby(energy)), "standby.power", "9 W"),
        (format!("idle_power = \"9 W\"\n{}", standby(power)), "seek_power, active_power", "9 W"),
    ] {
        let problems = workbench(1).build(&format!("{DRIVE}{settings}")).err().expect(&settings).to_string();
        let expected =
            format!("energy also needs {missing}, given {given}; also set {missing}, or none of them");
        assert!(problems.contains(&expected) && problems.lines().count() == 1, "{settings}: {problems}");
    }
    let mut disk = host(&standby(""));
    disk.latency(Time::ZERO, request(Op::Read, 0, BLOCK));
    assert!(disk.latency(Time::from_s(10), request(Op::Read, 0, BLOCK)) >= Time::from_s(2));
    let report = disk.device.report(Time::from_s(20));
    assert!(!report.is_energy_modeled && report.idle_energy.is_none());
    assert_eq!(report.energy(Activity::SpinUp), Energy(0.0));
}

/// Requests that are waiting when power fails are not charged. The arm and the interface are charged only for
/// the time before the power loss.
#[test]
fn what_a_loss_of_power_cancels_is_charged_to_nothing() {
    let powers = "idle_power = \"8 W\"\nseek_power = \"14 W\"\nactive_power = \"10 W\"\n";
    for (op, options) in [
        (Op::Read, ""),
        (Op::Read, "scheduling = \"shortest_access\"\nread_ahead = \"64 KiB\""),
        (Op::Write, ""),
        (Op::Write, "write_cache = \"16 MiB\""),
    ] {
        let mut bench = workbench(1).with_bytes();
        let drive = bench.build(&format!("{DRIVE}{powers}{options}")).expect("the test's drive is legal");
        let (mut host, mut random) = (Host::new(drive), Streams::new(2).stream("addresses"));
        for _ in 0..500 {
            let bytes = if op == Op::Write { vec![1; BLOCK as usize].into() } else { Payload::NONE };
            host.submit_with(Time::ZERO, request(op, random.below(BLOCKS) * 4096, BLOCK), bytes);
        }
        let at = Time::from_ms(50);
        host.run(at);
        let mut disk = host.device;
        disk.power_fail(at, &mut Streams::new(3).stream("chance"));
        let elapsed = disk.recover(at).done;
        disk.run(elapsed, &mut Completions::new());
        let report = disk.report(elapsed);
        let arm = &report.resources[0];
        // The charged time runs from the first request, or from the first one that has crossed the interface,
        // until the power loss.
        let begun = if options.contains("write_cache") { 4096.0 / 600e6 } else { 0.0 };
        assert_close("the arm was busy", arm.ledger.total_busy_s(), 0.05 - begun, 1e-9);
        let [seek, rotate, transfer] =
            [Activity::Seek, Activity::Rotate, Activity::Transfer].map(|of| arm.ledger.busy_s(of));
        let energy = report.resources.iter().fold(0.0, |sum, resource| {
            sum + Activity::ALL.iter().map(|&of| resource.ledger.energy(of).0).sum::<f64>()
        });
        assert_close("energy", energy, 6.0 * seek + 2.0 * (rotate + transfer), 1e-9);
        for resource in &report.resources {
            let share = resource.utilization(elapsed);
            assert!(share <= 1.0, "{} is busy for {share} of the time", resource.name);
        }
        disk.check_invariants();
    }
}
