//! Tests of closed forms and conservation laws.

use super::{drive, random, request};
use crate::workbench::{ask, rest, workbench};
use nacre_kernel::event::Payload;
use nacre_kernel::{Activity, ComponentReport, Op, Request, Streams, Time};
use nacre_testkit::closed_loop;
use nacre_testkit::oracle::Load;
use nacre_testkit::{assert_close, conformance, durability, visits};

/// 4 MiB on two controllers of four ranks. The drive is so small that its rows are written often.
const SMALL: &str = "controllers = 2\nranks = 4\nrow_ranks = 2\nchip = \"128 KiB\"\n";
/// Settings with which only the medium takes time.
const BARE: &str = "driver = \"0 s\"\npipeline = \"0 s\"\nlink = \"1000 GB/s\"\nring = \"1000 GB/s\"\n\
    row_setup = \"0 s\"\n";

fn counter(report: &ComponentReport, name: &str) -> u64 {
    report.counters.iter().find(|counter| counter.0 == name).expect("it is counted").1
}

#[test]
fn the_drive_keeps_the_contract_of_devices() {
    let often = "completion = \"late\"\nwear_leveling = { kind = \"start_gap\", interval = 1 }\ntags = 3\n";
    for settings in ["", often, "row = \"8 KiB\"\nbuffered_writes = 1\n"] {
        conformance(Time::from_ms(2), || drive(&format!("{SMALL}{settings}")));
        let build = || {
            let toml = format!("kind = \"onyx\"\n{SMALL}{settings}");
            workbench(1).with_bytes().build(&toml).expect("the test's drive is legal")
        };
        conformance(Time::from_ms(2), build);
        durability(Time::from_us(500), build);
    }
}

#[test]
fn a_request_alone_takes_the_times_of_its_parts() {
    let mut onyx = drive("completion = \"late\"");
    for (number, (op, bytes, medium_ps)) in [
        // Eight beats of 410.3 ns, and the setup time.
        (Op::Read, 512, 8 * 410_300 + 3_000_000),
        // Two ranks are filled one after the other, and then program concurrently.
        (Op::Write, 512, 3_000_000 + 2 * 3_200_000 + 120_000_000),
        // Eight ranks are filled one after the other. The ninth chunk waits for the first rank, and so on.
        (Op::Write, 4096, 3_000_000 + 9 * 3_200_000 + 2 * 120_000_000),
    ]
    .into_iter()
    .enumerate()
    {
        let now = Time::from_ms(1 + number as u64);
        let spans = ask(&mut *onyx, now, &request(op, 0, bytes), Payload::NONE).spans;
        let spent = |activity| {
            let of = spans.iter().filter(|span| span.activity == activity);
            of.fold(Time::ZERO, |sum, span| sum + span.time).as_ps()
        };
        assert_eq!(spent(Activity::Software), 3_600_000 + 2_090_000);
        // The ring transfers 4 GB/s and the link 2 GB/s.
        assert_eq!(spent(Activity::Link), u64::from(bytes) * 750);
        assert_eq!(spent(if op == Op::Read { Activity::Read } else { Activity::Write }), medium_ps);
        assert_eq!(spent(Activity::Queue), 0, "nothing waits in a {op:?} of {bytes} bytes");
    }
}

#[test]
fn bandwidths_are_the_products_of_the_parts() {
    for (controllers, ranks, chips) in [(1, 16, 4), (2, 8, 8), (8, 16, 4)] {
        let parts = format!("controllers = {controllers}\nranks = {ranks}\ndata_chips = {chips}\n{BARE}");
        let sequential = |op| {
            let bytes = 65536 * controllers;
            let mut onyx = drive(&format!("wear_leveling = \"none\"\ncpus = 64\n{parts}"));
            let seen =
                closed_loop(&mut *onyx, 4, 300, |number| request(op, number * u64::from(bytes), bytes));
            seen.per_second() * f64::from(bytes)
        };
        let reads = f64::from(controllers * chips * 16) / 410.3e-9;
        assert_close("reads", sequential(Op::Read), reads, 0.02);
        let programs = f64::from(controllers * ranks * chips * 64) / 123.2e-6;
        assert_close("writes", sequential(Op::Write), programs, 0.02);
    }
}

/// With Q outstanding requests, IOPS = min(Q / T0, capacity) and latency = Q / IOPS. T0 is the latency of a
/// single request. All reads go to one controller, whose lines serve one read at a time.
#[test]
fn a_closed_loop_is_bounded_by_its_depth_and_by_the_lines() {
    let lines = 3e-6 + 64.0 * 410.3e-9;
    let alone = 3.6e-6 + 2.09e-6 + lines + 4096.0 / 4e9 + 4096.0 / 2e9;
    for depth in [1, 2, 4, 16, 64] {
        let mut onyx = drive("");
        let seen =
            closed_loop(&mut *onyx, depth, 4000, |number| request(Op::Read, (number % 999) << 15, 4096));
        let expected = (f64::from(depth) / alone).min(1.0 / lines);
        assert_close("requests per second", seen.per_second(), expected, 0.02);
        assert_close("latency", seen.mean_s(), f64::from(depth) / expected, 0.02);
    }
}

/// At most `tags` requests are in progress. Each of eight controllers serves every eighth read, so four
/// concurrent reads use different controllers.
#[test]
fn tags_bound_what_is_under_way() {
    let mut onyx = drive("tags = 4\npipeline = \"0 s\"\nring = \"4000 GB/s\"\nlink = \"2000 GB/s\"");
    let seen = closed_loop(&mut *onyx, 16, 8000, |number| request(Op::Read, number << 12, 4096));
    let tagged = 3e-6 + 64.0 * 410.3e-9;
    assert_close("requests per second", seen.per_second(), 4.0 / tagged, 0.01);
    assert!(counter(&onyx.report(seen.end), "tag_waits") > 7900);
}

/// With start-gap, the write bandwidth is interval / (interval + 1) of the bandwidth without wear leveling.
/// Filling the chip buffers and reading rows take no time, so moving a row takes as long as writing a row.
#[test]
fn start_gap_leaves_g_of_g_plus_one_of_the_bandwidth() {
    for completion in ["early", "late"] {
        let per_second = |wear_leveling: &str| {
            let settings = format!(
                "{BARE}controllers = 1\nrow_ranks = 16\nread = \"1 ps\"\nread_control = \"0 s\"\nfill = \"0 s\"\n\
                 completion = \"{completion}\"\nwear_leveling = {wear_leveling}\n"
            );
            random(&mut *drive(&settings), 32, 4_000, Op::Write, 4096).per_second()
        };
        let without = per_second("\"none\"");
        assert_close("writes without", without, 1.0 / 120e-6, 0.01);
        for interval in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
            let with = per_second(&format!("{{ kind = \"start_gap\", interval = {interval} }}"));
            let law = f64::from(interval) / f64::from(interval + 1);
            assert_close(&format!("at {interval}"), with / without, law, 0.005);
        }
    }
}

#[test]
fn an_early_write_is_done_when_the_buffer_has_its_data() {
    let mut onyx = drive("buffered_writes = 2\ncompletion = \"early\"");
    let arrive = Time::from_ps(3_600_000 + 2_090_000 + 512 * 750);
    let write = request(Op::Write, 0, 512);
    let requests = [write, write, write, request(Op::Read, 0, 512)];
    let times = [0, 1, 50, 60].map(Time::from_us);
    let seen = visits(&mut *onyx, &requests, Load::Open(&times));
    assert_eq!(seen[0].latency(), arrive);
    let waited = seen[1].latency() - arrive;
    assert_eq!(waited, Time::from_ps(1_090_000), "it waits for the pipeline");
    // The third write waits until the first is programmed.
    let programmed = arrive + Time::from_ps(3_000_000 + 2 * 3_200_000 + 120_000_000);
    assert_eq!(seen[2].done, programmed);
    assert_eq!(counter(&onyx.report(Time::from_ms(1)), "buffer_waits"), 1);
    // A read of the row waits for the two earlier writes to it. The second write is in the buffer.
    assert!(seen[3].done > programmed + Time::from_us(120), "a program went before it");
}

#[test]
fn uniform_writes_wear_all_rows_alike() {
    let small = SMALL.replace("128 KiB", "64 KiB");
    let mut onyx = drive(&format!("{small}wear_leveling = {{ kind = \"start_gap\", interval = 8 }}\n"));
    let mut random = Streams::new(3).stream("addresses");
    let writes: Vec<Request> =
        (0..512_000).map(|_| request(Op::Write, random.below(512) << 12, 4096)).collect();
    onyx.preconditioning().expect("it has it").precondition(&writes);
    let report = onyx.report(Time::ZERO);
    let of = |name: &str| &report.columns.iter().find(|column| column.name == name).expect("there").values;
    // A bin has one of 514 rows here. It receives 1000 writes, and one move per eight writes.
    let mean = 512_000.0 * 9.0 / 8.0 / 514.0;
    let (programs, most) = (of("rows.mean_programs"), of("rows.most_programs"));
    assert_eq!(programs.len(), 514);
    // In each controller, the gap may be about to move.
    assert_close("all programs", programs.iter().sum::<f64>(), mean * 514.0, 1e-5);
    // The counts are Poisson-distributed with standard deviation sqrt(mean). The largest of a thousand counts
    // is within five standard deviations.
    assert!(most.iter().all(|&most| (most - mean).abs() < 5.0 * mean.sqrt()), "mean {mean}: {most:?}");
}

/// With wear leveling, writes to one row are spread over all rows of its domain. Without wear leveling, the
/// row receives all writes.
#[test]
fn hammering_one_row_wears_its_whole_domain() {
    let most = |wear_leveling: &str| {
        let mut onyx = drive(&format!("{SMALL}endurance = 6000\nwear_leveling = {wear_leveling}\n"));
        // A controller has 512 rows. After 10 * 513 * 512 moves of the gap, every row was at every position
        // ten times.
        let writes = vec![request(Op::Write, 4096, 4096); 513 * 512 * 10];
        onyx.preconditioning().expect("it has it").precondition(&writes);
        let report = onyx.report(Time::ZERO);
        let values =
            &report.columns.iter().find(|column| column.name == "rows.most_programs").expect("there").values;
        (values.iter().fold(0.0, |most: f64, &next| most.max(next)), counter(&report, "rows_worn_out"))
    };
    assert_eq!(most("\"none\""), (2_626_560.0, 1));
    // Each row received 5120 writes of the host. It also received a row for each move over it, i.e. 513 * 10
    // times, minus the moves in which it was the gap.
    let (leveled, worn) = most("{ kind = \"start_gap\", interval = 1 }");
    assert_close("most programs", leveled, 2.0 * 5120.0, 0.06);
    assert_eq!(worn, 513);
}

#[test]
fn programs_energy_and_lifetime_follow_from_counts() {
    let mut onyx = drive(&format!(
        "{SMALL}program_energy = \"2 uJ\"\nread_energy = \"1 nJ\"\nidle_power = \"5 W\"\n\
         wear_leveling = {{ kind = \"start_gap\", interval = 4 }}\n"
    ));
    let seen = closed_loop(&mut *onyx, 8, 3000, |number| {
        request(if number % 3 == 0 { Op::Read } else { Op::Write }, (number % 1024) << 12, 4096)
    });
    let elapsed = seen.end.max(rest(&mut *onyx));
    let report = onyx.report(elapsed);
    let wear = report.wear.clone().expect("rows wear");
    assert_eq!((wear.host, wear.leveled), (2000, 500));
    assert_eq!((counter(&report, "rank_reads"), counter(&report, "rank_programs")), (64_000, 32_000));
    assert_close("energy of writes", report.energy(Activity::Write).0, 32_000.0 * 5.0 * 2e-6, 1e-9);
    let moves = 500.0 * 5.0 * (64.0 * 1e-9 + 16.0 * 2e-6);
    assert_close("energy of moves", report.energy(Activity::LevelWear).0, moves, 1e-9);
    assert_close("energy of reads", report.energy(Activity::Read).0, 64_000.0 * 5.0 * 1e-9, 1e-9);
    assert_close("idle", report.idle_energy.expect("known").0, 5.0 * elapsed.as_secs_f64(), 1e-9);
    let days = 1026.0 * 1e6 / 2500.0 * elapsed.as_secs_f64() / 86_400.0;
    assert_close("lifetime", report.lifetime_days.expect("rows wear"), days, 1e-9);
}

/// The sum of the busy times of all ranks may exceed the maximum simulated time. In this test, each of 64
/// ranks programs for more than three days.
#[test]
fn busy_time_of_many_ranks_does_not_end_with_simulated_time() {
    let mut onyx =
        drive("controllers = 64\nranks = 1\nrow_ranks = 1\nchip = \"256 KiB\"\nprogram = \"1 s\"\n");
    let write = |number: u64| request(Op::Write, (number % 64) << 12, 4096);
    // Each write takes 16 programs of one second, and each controller performs 18,100 writes.
    let writes = 64 * 18_100;
    let end = closed_loop(&mut *onyx, 512, writes, write).end.max(rest(&mut *onyx));
    let report = onyx.report(end);
    let ranks = report.resources.iter().find(|resource| resource.name == "ranks").expect("it has ranks");
    let programmed = counter(&report, "rank_programs") as f64;
    assert_eq!(programmed, writes as f64 * 16.0);
    assert!(programmed > Time::MAX.as_secs_f64(), "one second each, longer than any time");
    assert_close("busy", ranks.ledger.busy_s(Activity::Write) / programmed, 1.0, 1e-5);
    assert!(ranks.utilization(end) > 0.9);
}

#[test]
fn preconditioning_wears_and_maps_as_writes_do() {
    let settings = format!("{SMALL}wear_leveling = {{ kind = \"start_gap\", interval = 3 }}\n");
    let mut addresses = Streams::new(9).stream("addresses");
    let writes: Vec<Request> =
        (0..2000).map(|_| request(Op::Write, addresses.below(8000) << 9, 512 * 5)).collect();
    let (mut prepared, mut served) = (drive(&settings), drive(&settings));
    prepared.preconditioning().expect("it has it").precondition(&writes);
    for (write, ms) in writes.iter().zip(0..) {
        ask(&mut *served, Time::from_ms(ms), write, Payload::NONE);
    }
    rest(&mut *served);
    let (prepared, served) = (prepared.report(Time::ZERO), served.report(Time::ZERO));
    assert_eq!(prepared.columns, served.columns);
    assert_eq!(prepared.wear, served.wear);
}

#[test]
fn all_mistakes_come_at_once() {
    let settings = "kind = \"onyx\"\nrow = \"1000 B\"\nrow_ranks = 5\ncapacitors = \"1 mJ\"";
    let problems = workbench(1).build(settings).err().expect("it cannot be built").to_string();
    for part in ["device.row ", "device.row_ranks ", "device.capacitors "] {
        assert!(problems.contains(part), "{part} in {problems}");
    }
    let domains = "kind = \"onyx\"\nwear_leveling = { kind = \"start_gap\", interval = 0, domains = 0 }";
    let problems = workbench(1).build(domains).err().expect("it cannot be built").to_string();
    assert!(problems.contains("interval") && problems.contains("domains"), "{problems}");
    let uneven = "kind = \"onyx\"\nwear_leveling = { kind = \"start_gap\", domains = 100 }";
    let problems = workbench(1).build(uneven).err().expect("it cannot be built").to_string();
    assert!(problems.contains("use 64 or 128, the nearest that divide them"), "{problems}");
}

#[test]
fn mistakes_are_named_with_what_is_allowed() {
    for (settings, expected) in [
        ("row = \"1000 B\"", "device.row"),
        ("row_ranks = 5", "device.row_ranks"),
        ("chip = \"5 KiB\"\nranks = 1\nrow_ranks = 1\ndata_chips = 1\nrow = \"4 KiB\"", "device.chip"),
        ("wear_leveling = { kind = \"start_gap\", domains = 3 }", "device.wear_leveling.domains"),
        // The energy is 8 controllers * 3 writes * 16 chunks * 5 chips * 2 uJ = 3.84 mJ.
        ("program_energy = \"2 uJ\"\ncapacitors = \"3 mJ\"", "full write buffers, 24 row writes, need"),
        ("program_energy = \"2 uJ\"\ncapacitors = \"3 mJ\"", "this is enough for 18"),
        ("program_zeros = \"121 us\"", "device.program_zeros"),
        ("poll_interval = \"100 ns\"", "device.poll_interval"),
        // The code needs 4 B for each 8 B, but the spare chips have 2 B.
        ("ecc = { kind = \"bch\", t = 2, codeword = \"8 B\" }", "device.ecc"),
    ] {
        let built = workbench(1).build(&format!("kind = \"onyx\"\n{settings}"));
        let problems = built.err().unwrap_or_else(|| panic!("{settings} is accepted")).to_string();
        assert!(problems.contains(expected), "{settings}: {problems}");
    }
    drive("program_energy = \"2 uJ\"\ncapacitors = \"3 mJ\"\nmay_lose_writes = true");
    drive("program_energy = \"2 uJ\"\ncapacitors = \"3.84 mJ\"");
    drive("program_energy = \"2 uJ\"\ncapacitors = \"1 mJ\"\ncompletion = \"late\"");
}

/// Tests the ring latency to each controller. Eight controllers are at four stations, two at each station.
/// Packets use the shorter direction of the ring.
#[test]
fn a_controller_is_as_far_as_the_ring_has_stations_on_the_way() {
    let alone = |hop: &str, number: u64, op: Op| {
        let mut onyx = drive(&format!("ring_hop = \"{hop}\""));
        ask(&mut *onyx, Time::ZERO, &request(op, number << 12, 512), Payload::NONE).done
    };
    for (number, hops) in (0..).zip([0, 0, 1, 1, 2, 2, 1, 1]) {
        for op in [Op::Read, Op::Write] {
            let more = alone("100 ns", number, op) - alone("0 s", number, op);
            assert_eq!(more, Time::from_ns(200 * hops), "{op:?} of controller {number}");
        }
    }
}

/// A read waits for its rank behind a program. If the controller does not serve requests in order, a read
/// of another group of ranks overtakes the waiting read.
#[test]
fn what_finds_its_ranks_free_passes_what_waits_unless_all_go_in_order() {
    let (busy, beat) = (Time::from_ns(3_200 + 120_000), Time::from_ps(410_300));
    for (scheduling, passes) in [("available", true), ("in_order", false)] {
        let settings = format!("{BARE}controllers = 1\nwear_leveling = \"none\"\n");
        let mut onyx = drive(&format!("{settings}scheduling = \"{scheduling}\"\n"));
        let requests =
            [(Op::Write, 0), (Op::Read, 0), (Op::Read, 1)].map(|(op, row)| request(op, row << 12, 64));
        let seen = visits(&mut *onyx, &requests, Load::Open(&[0, 10, 11].map(Time::from_us)));
        let (waits, other) = (seen[1].done, seen[2].done);
        let near = |seen: Time, expected: Time| {
            assert!(
                seen >= expected && seen - expected < Time::from_ns(1),
                "{scheduling}: {seen} for {expected}"
            );
        };
        near(waits, busy + beat);
        near(other, if passes { Time::from_us(11) + beat } else { busy + beat + beat });
    }
}
