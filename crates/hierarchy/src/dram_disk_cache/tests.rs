use crate::workbench::ROOMS;
use nacre_kernel::{Activity, Breakdown, Data, Device, Op, Request, Streams, Time};
use nacre_testkit::{Workbench, assert_close, conformance_in_order, keeps_its_bytes};

const POWERS: &str = "active_power = \"900 mW\"\nidle_power = \"80 mW\"\npower_down_power = \"20 mW\"\n";

fn settings(options: &str) -> String {
    format!(
        "kind = \"dram_disk_cache\"\ncapacity = \"64 KiB\"\n{options}\n[device.backing]\nkind = \"measured\"\n\
         read = \"100 us\"\nwrite = \"200 us\"\nparallelism = 64\ncapacity = \"3 MiB\"\n"
    )
}

fn build(options: &str) -> Box<dyn Device> {
    Workbench::new(ROOMS, 1).build(&settings(options)).unwrap()
}

fn submit(device: &mut dyn Device, now: Time, op: Op, page: u64) -> Time {
    let request = Request { arrival: now, address: page * 2048, bytes: 2048, volume: 0, op };
    device.submit(now, &request, Data::None, &mut Breakdown::new()).done
}

#[test]
fn it_keeps_the_contract() {
    for options in ["", POWERS, "page = \"4 KiB\"\ndirty_limit = \"0 %\"", "dirty_limit = \"100 %\""] {
        conformance_in_order(|| build(options));
    }
}

#[test]
fn it_keeps_its_bytes_as_far_as_it_promises() {
    for options in ["", "page = \"1 KiB\"\ndirty_limit = \"0 %\"", "dirty_limit = \"100 %\""] {
        let crashes = keeps_its_bytes(Workbench::new(ROOMS, 1), &settings(options), 400);
        assert!(
            crashes.points() > 30 && crashes.restarts > 4 && crashes.branches["blocks_behind"] > 3,
            "{crashes:?}"
        );
    }
}

#[test]
fn it_hits_as_a_plain_lru_does() {
    let mut device = build("");
    let mut random = Streams::new(5).stream("pages");
    let (mut plain, mut now, mut hits) = (Vec::new(), Time::ZERO, 0);
    for _ in 0..5_000 {
        let page = random.below(10) * random.below(12);
        let op = if random.chance(0.3) { Op::Write } else { Op::Read };
        now = submit(&mut *device, now + Time::from_ms(5), op, page);
        if let Some(place) = plain.iter().position(|&known| known == page) {
            plain.remove(place);
            hits += 1;
        } else if plain.len() == 32 {
            plain.pop();
        }
        plain.insert(0, page);
    }
    let counters = device.report(now).counters;
    let count = |name| counters.iter().find(|(known, _)| *known == name).expect("it is counted").1;
    assert_eq!(count("read_hits") + count("write_hits"), hits);
    assert_eq!(count("read_misses") + count("write_misses"), 5_000 - hits);
}

/// A sixteenth of a chip, a read every millisecond: it works 55 + 512 ns of it, and rests 1 us before it is powered down.
#[test]
fn energy_is_the_power_of_each_state_by_its_time() {
    let mut device = build(&format!("chip = \"1 MiB\"\nrank = 1\n{POWERS}"));
    submit(&mut *device, Time::ZERO, Op::Read, 0);
    device.restart_ledger();
    let reads = 1_000;
    for read in 1..=reads {
        submit(&mut *device, Time::from_ms(10 + read), Op::Read, 0);
    }
    let elapsed = Time::from_ms(reads);
    let report = device.report(elapsed);
    let (chips, transfer) = (1.0 / 16.0, 512e-9);
    let working = reads as f64 * transfer;
    assert_close("reading", report.energy(Activity::Read).0, (0.9 - 0.08) * chips * working, 1e-6);
    let idle = report.idle_energy.expect("the power is given").0;
    // All but the first millisecond is at rest up to 1 us before each read.
    let awake = reads as f64 * (1e-6 + transfer);
    let expected = (0.08 * awake + 0.02 * (1.0 - awake)) * chips;
    assert_close("resting", idle, expected, 0.02);
}

/// In every millisecond a page comes in at 100 us, and while it is awaited another one is read every 10 us. Of the ten
/// rests all but 1 us is powered down, though the page that comes in was given its time first.
#[test]
fn rest_that_is_used_after_all_is_not_powered_down() {
    let mut device = build(&format!("chip = \"1 MiB\"\nrank = 1\n{POWERS}"));
    submit(&mut *device, Time::ZERO, Op::Read, 0);
    device.restart_ledger();
    let rounds = 1_000;
    for round in 1..=rounds {
        submit(&mut *device, Time::from_ms(round), Op::Read, round);
        for read in 1..10 {
            submit(&mut *device, Time::from_ms(round) + Time::from_us(10 * read), Op::Read, 0);
        }
        device.advance(Time::from_ms(round));
    }
    let report = device.report(Time::from_ms(rounds));
    let (chips, transfer) = (1.0 / 16.0, 512e-9);
    let working = 10.0 * rounds as f64 * transfer;
    assert_close("working", report.resources[0].ledger.total_busy_s(), working, 1e-9);
    let awake = working + 10.0 * rounds as f64 * 1e-6;
    let expected = (0.08 * awake + 0.02 * (1.0 - awake)) * chips;
    assert_close("resting", report.idle_energy.expect("the power is given").0, expected, 0.005);
}
