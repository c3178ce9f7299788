use crate::workbench::ROOMS;
use nacre_kernel::{Breakdown, Completion, Data, Device, Op, Request, Status, Streams, Time};
use nacre_testkit::{Workbench, conformance_in_order, keeps_its_bytes};

const BCH: &str = "kind = \"bch\"\nt = 2\ncrc32 = true\ndecode = \"10 ns\"";

/// Frames move often.
const MOVING: &str = "wear_levelling = { kind = \"start_gap\", interval = 2 }";

fn settings(options: &str, ecc: &str) -> String {
    format!(
        "kind = \"pcm_disk_cache\"\ncapacity = \"64 KiB\"\n{options}\n[device.ecc]\n{ecc}\n[device.backing]\n\
         kind = \"measured\"\nread = \"100 us\"\nwrite = \"200 us\"\nparallelism = 64\ncapacity = \"3 MiB\"\n"
    )
}

fn build(options: &str, ecc: &str) -> Box<dyn Device> {
    Workbench::new(ROOMS, 1).build(&settings(options, ecc)).unwrap()
}

fn submit(device: &mut dyn Device, now: Time, op: Op, page: u64) -> Completion {
    let request = Request { arrival: now, address: page * 2048, bytes: 2048, volume: 0, op };
    device.submit(now, &request, Data::None, &mut Breakdown::new())
}

fn count(device: &dyn Device, name: &str) -> u64 {
    let counters = device.report(Time::from_s(1)).counters;
    counters.iter().find(|(known, _)| *known == name).expect("it is counted").1
}

#[test]
fn it_keeps_the_contract() {
    for (options, ecc) in [
        ("", BCH),
        ("banks = 1\nlookup = \"0 s\"", "kind = \"crc32\""),
        ("endurance = 200", BCH),
        (MOVING, BCH),
    ] {
        conformance_in_order(|| build(options, ecc));
    }
}

#[test]
fn it_keeps_its_bytes_and_the_tables_beside_them() {
    let moving = format!("{MOVING}\nendurance = 100000");
    for (options, ecc) in [("", BCH), ("page = \"1 KiB\"\nbanks = 1", "kind = \"none\""), (&*moving, BCH)] {
        let crashes = keeps_its_bytes(Workbench::new(ROOMS, 1), &settings(options, ecc), 400);
        assert!(
            crashes.points() > 30 && crashes.restarts > 4 && crashes.branches["blocks_behind"] > 3,
            "{crashes:?}"
        );
    }
}

/// What is clean the backing has, too: nothing of it has to go there when a write over it is interrupted.
#[test]
fn a_write_over_a_clean_page_that_is_interrupted_leaves_what_the_backing_has() {
    let repeated = |is_dirty: bool| {
        let mut device = Workbench::new(ROOMS, 1).with_bytes().build(&settings("", BCH)).unwrap();
        let mut ask = |at: Time, op: Op, data: Data<'_>| {
            let request = Request { arrival: at, address: 4096, bytes: 2048, volume: 0, op };
            device.submit(at, &request, data, &mut Breakdown::new()).done
        };
        if is_dirty {
            ask(Time::ZERO, Op::Write, Data::Write(&[1; 2048]));
        } else {
            ask(Time::ZERO, Op::Read, Data::Read(&mut [0; 2048]));
        }
        let at = Time::from_ms(10);
        let done = ask(at, Op::Write, Data::Write(&[2; 2048]));
        let half = Time::from_ps(u64::midpoint(at.as_ps(), done.as_ps()));
        device.power_fail(half, &mut Streams::new(1).stream("loss"));
        device.recover(done).programs_repeated
    };
    assert_eq!([true, false].map(repeated), [1, 0]);
}

/// A hit is a look-up, a read and the decoder; a write a look-up and a write.
#[test]
fn times_are_those_of_the_memory() {
    let mut device = build("", BCH);
    submit(&mut *device, Time::ZERO, Op::Read, 3);
    let later = Time::from_ms(10);
    let hit = submit(&mut *device, later, Op::Read, 3).done - later;
    assert_eq!(hit, Time::from_ns(125 + 125 + 20));
    let later = Time::from_ms(20);
    let write = submit(&mut *device, later, Op::Write, 3).done - later;
    assert_eq!(write, Time::from_ns(125 + 50_000));
}

/// What is written of the first half of a page.
fn write_half(device: &mut dyn Device, now: Time, page: u64) -> Completion {
    let request = Request { arrival: now, address: page * 2048, bytes: 1024, volume: 0, op: Op::Write };
    device.submit(now, &request, Data::None, &mut Breakdown::new())
}

/// A code covers a page: its other half is read and decoded before a half is written. Without a code it stays as it is.
#[test]
fn half_a_page_takes_a_read_where_there_is_a_code() {
    for (ecc, rest) in [(BCH, 125 + 20), ("kind = \"none\"", 0)] {
        let mut device = build("", ecc);
        submit(&mut *device, Time::ZERO, Op::Read, 3);
        let later = Time::from_ms(10);
        let written = write_half(&mut *device, later, 3).done - later;
        assert_eq!(written, Time::from_ns(125 + rest + 50_000), "{ecc}");
    }
}

/// Where a page that is dirty cannot be read, half of it cannot be written: the other half is lost.
#[test]
fn half_a_page_cannot_be_written_where_the_rest_is_unreadable() {
    let mut unreadable = 0;
    for writes in 1..200 {
        let ask = |last: fn(&mut dyn Device, Time) -> Completion| {
            let mut device = build("endurance = 20\nbit_error_rate = 0.00005", "kind = \"bch\"\nt = 1");
            let mut now = Time::ZERO;
            for number in 0..writes {
                now = submit(&mut *device, now, Op::Write, (number * 3) % 4).done;
            }
            now = submit(&mut *device, now, Op::Write, 0).done;
            let lost = count(&*device, "lost_pages");
            (last(&mut *device, now).status, count(&*device, "lost_pages") - lost)
        };
        let read = ask(|device, now| submit(device, now, Op::Read, 0));
        assert_eq!(ask(|device, now| write_half(device, now, 0)), read, "{writes} writes");
        unreadable += read.1;
    }
    assert!(unreadable > 20, "{unreadable}");
}

/// Cells so weak that pages go wrong: what is clean comes again, what is dirty is lost, and said to be.
#[test]
fn a_page_beyond_its_code_is_never_returned() {
    let mut device = build("endurance = 20\nbit_error_rate = 0.00005", "kind = \"bch\"\nt = 1");
    let mut random = Streams::new(4).stream("pages");
    let (mut now, mut errors) = (Time::ZERO, 0);
    for _ in 0..20_000 {
        let op = if random.chance(0.3) { Op::Write } else { Op::Read };
        let answer = submit(&mut *device, now, op, random.below(40));
        errors += u64::from(answer.status == Status::MediaError);
        now = answer.done;
    }
    device.check_invariants();
    let (uncorrectable, lost) = (count(&*device, "uncorrectable"), count(&*device, "lost_pages"));
    assert!(uncorrectable > lost && lost > 10 && errors >= lost / 2, "{uncorrectable} {lost} {errors}");
}

/// The same with bytes, of which a code for one bit takes half of those with two wrong ones for another codeword, and no code
/// notices any.
#[test]
fn bytes_beyond_their_code_are_never_returned() {
    for code in ["kind = \"bch\"\nt = 1", "kind = \"none\""] {
        let toml = settings("endurance = 20\nbit_error_rate = 0.00005", code);
        let mut device = Workbench::new(ROOMS, 1).with_bytes().build(&toml).unwrap();
        let mut random = Streams::new(4).stream("pages");
        let (mut now, mut written, mut errors) = (Time::ZERO, [0_u8; 40], 0);
        for number in 0..20_000_u64 {
            let page = random.below(40);
            let request = |op| Request { arrival: now, address: page * 2048, bytes: 2048, volume: 0, op };
            let mut bytes = [number as u8; 2048];
            if random.chance(0.3) {
                let data = Data::Write(&bytes);
                now = device.submit(now, &request(Op::Write), data, &mut Breakdown::new()).done;
                written[page as usize] = number as u8;
                continue;
            }
            let data = Data::Read(&mut bytes);
            let answer = device.submit(now, &request(Op::Read), data, &mut Breakdown::new());
            now = answer.done;
            errors += u64::from(answer.status == Status::MediaError);
            let is_right = bytes == [written[page as usize]; 2048];
            assert!(answer.status != Status::Done || is_right, "request {number}: {code}");
        }
        assert!(errors > 20, "{errors} errors: {code}");
    }
}

/// A lost page that is written anew and sent back: a loss of power that undoes both leaves it lost, and the backing's
/// older version does not come back.
#[test]
fn a_lost_page_whose_new_write_is_undone_stays_lost() {
    let options =
        "page = \"8 KiB\"\nbanks = 1\nendurance = 20\nendurance_spread = 1.0\nbit_error_rate = 0.00001";
    let mut device =
        Workbench::new(ROOMS, 1).with_bytes().build(&settings(options, "kind = \"crc32\"")).unwrap();
    let ask = |device: &mut dyn Device, at: Time, page: u64, data: Data<'_>| {
        let op = if matches!(data, Data::Write(_)) { Op::Write } else { Op::Read };
        let request = Request { arrival: at, address: page * 8192, bytes: 8192, volume: 0, op };
        device.submit(at, &request, data, &mut Breakdown::new())
    };
    let mut random = Streams::new(2).stream("pages");
    let (mut now, mut undone) = (Time::ZERO, 0);
    let mut page = vec![0; 8192];
    for number in 0..2_000_u64 {
        let key = random.below(12);
        page.fill(number as u8);
        now = ask(&mut *device, now, key, Data::Write(&page)).done;
        let read = ask(&mut *device, now, random.below(12), Data::Read(&mut page));
        now = read.done;
        device.advance(now);
        let lost: Vec<u64> = (0..12)
            .filter(|&key| ask(&mut *device, now, key, Data::Read(&mut page)).status == Status::MediaError)
            .collect();
        now = now.max(device.busy_until());
        device.advance(now);
        let Some(&key) = lost.first() else { continue };
        // The page used longest ago is this one when the ninth comes.
        for key in [key].into_iter().chain(20..28) {
            ask(&mut *device, now, key, Data::Write(&page));
        }
        device.power_fail(now + Time::from_ns(1), &mut Streams::new(number).stream("loss"));
        now = device.recover(now + Time::from_ms(1)).done;
        let read = ask(&mut *device, now, key, Data::Read(&mut page));
        assert_eq!(read.status, Status::MediaError, "page {key}, {number} writes in");
        now = ask(&mut *device, read.done, key, Data::Write(&page)).done.max(device.busy_until());
        undone += 1;
    }
    assert!(undone > 20, "{undone} pages were lost");
}

/// A page that is written again and again wears one frame, or all of them alike; every so many writes one is moved.
#[test]
fn wear_is_level_where_frames_move() {
    let spread = |levelling: &str| {
        let options = format!(
            "bit_error_rate = 0\nread_energy = \"1 nJ\"\nwrite_energy = \"10 nJ\"\nwear_levelling = {levelling}"
        );
        let mut device = build(&options, "kind = \"none\"");
        let mut now = Time::ZERO;
        for number in 0..20_000 {
            let page = if number % 4 == 0 { number / 4 % 32 } else { 7 };
            now = submit(&mut *device, now, Op::Write, page).done;
        }
        device.check_invariants();
        let report = device.report(now);
        let wear = report.wear.clone().expect("it wears");
        let energy = report.energy(nacre_kernel::Activity::LevelWear).0;
        (wear.row_programs.expect("rows are counted"), wear.host, wear.levelled, energy)
    };
    let (alone, host, moves, energy) = spread("\"none\"");
    assert_eq!((u64::from(alone.max), moves, energy), (15_000 + 157, 0, 0.0), "{alone:?}");
    let (level, _, moves, energy) = spread("{ kind = \"start_gap\", interval = 10 }");
    assert_eq!(moves, host / 10);
    assert!((energy - 11e-9 * moves as f64).abs() < 1e-12, "{energy} J");
    assert!(f64::from(level.max) < 2.0 * level.mean, "{level:?}");
}
