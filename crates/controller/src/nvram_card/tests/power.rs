//! Tests of power losses: time, energy, and result of a dump.

use super::*;
use crate::crashes::crash;
use nacre_kernel::{Energy, Persistence, Recovery};

/// A card of 64 MiB. A dump takes 1 ms, plus 40.96 us for each of 4,096 pages, because the flash writes 400
/// MB/s. At 10 W, the dump needs 1.6877 J.
const SMALL: &str = "chips = 8\nflash_page = \"16 KiB\"\nwrite_latency = 6\n";

fn small(settings: &str) -> String {
    let card = DDR3.replace("chip = \"128 MiB\"", "chip = \"8 MiB\"").replace("write_latency = 6\n", SMALL);
    format!("{card}{settings}")
}

fn write(device: &mut dyn Device, at: Time, address: u64, stamp: u8) -> Time {
    let request = Request { arrival: at, address, bytes: 4096, volume: 0, op: Op::Write };
    ask(device, at, &request, vec![stamp; 4096].into()).done
}

fn read(device: &mut dyn Device, at: Time, address: u64) -> u8 {
    let request = Request { arrival: at, address, bytes: 4096, volume: 0, op: Op::Read };
    let answer = ask(device, at, &request, Payload::NONE);
    let found = answer.data.bytes().expect("it carries bytes");
    assert!(found.iter().all(|&byte| byte == found[0]));
    found[0]
}

fn with_bytes(toml: &str) -> Box<dyn Device> {
    let built = workbench(1).with_bytes().build(toml);
    built.unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// Cuts power at `at` and restores it one second later.
fn fail(device: &mut dyn Device, at: Time) -> Recovery {
    device.run(at, &mut Completions::new());
    device.power_fail(at, &mut Streams::new(1).stream("chance"));
    device.recover(at + Time::from_s(1))
}

#[test]
fn a_card_with_dram_keeps_its_bytes() {
    crash(&small(""));
    crash(&small("capacitor = \"2 J\"\nrows = \"open_for_reads\"\n"));
    crash(&small("capacitor = \"2 J\"\nwait_for_charge = false\n"));
    crash(&small("flash_error_rate = \"0.00008 %\"\n"));
    crash(&small("capacitor = \"10.2 mJ\"\nmay_lose_writes = true\ndump = \"changed\"\nboot = \"10 us\"\n"));
}

#[test]
fn a_card_with_mram_keeps_its_bytes() {
    let mram = MRAM.replace("chip = \"32 MiB\"", "chip = \"1 MiB\"");
    crash(&format!("{mram}written = \"closed\"\n"));
    crash(&format!("{mram}rows = \"open_for_reads\"\n"));
    crash(&format!("{mram}written = \"closed\"\n[device.host]\nkind = \"memory_window\"\n"));
}

#[test]
fn a_dump_takes_its_pages_and_the_capacitor_what_it_needs() {
    let mut device = with_bytes(&small("capacitor = \"2 J\"\n"));
    let at = write(&mut *device, Time::ZERO, 12_288, 1) + Time::from_us(1);
    let recovery = fail(&mut *device, at);
    // The dump ended while power was off. Recovery then takes 100 ms, and the longer of reading 64 MiB at 1.6
    // GB/s and charging 1.6877 J at 5 W, which takes 337.5 ms.
    let dump = 1e-3 + 4096.0 * 16_384.0 / 400e6;
    let back = (at + Time::from_s(1)).as_secs_f64();
    let ready = recovery.done.as_secs_f64() - back;
    assert!((ready - 10.0 * dump / 5.0).abs() < 1e-6, "ready after {ready} s");
    assert_eq!((recovery.programs_finished, recovery.programs_lost, recovery.bytes_lost), (4096, 0, 0));
    assert_eq!(read(&mut *device, recovery.done, 12_288), 1);
    // Data that equals the flash needs no dump.
    let again = fail(&mut *device, recovery.done + Time::from_s(1));
    assert_eq!(again.programs_finished, 0);
}

#[test]
fn a_capacitor_that_is_too_small_saves_what_comes_first() {
    // The energy is enough for half of the pages of a full dump.
    let settings = "capacitor = \"848.862 mJ\"\nmay_lose_writes = true\n";
    let mut device = with_bytes(&small(settings));
    assert_eq!(device.capabilities().persistence, Persistence::WithStoredEnergy);
    let mut at = Time::ZERO;
    for (address, stamp) in [(0, 1), (16 << 20, 2), (33 << 20, 3), (48 << 20, 4)] {
        at = write(&mut *device, at, address, stamp);
    }
    let recovery = fail(&mut *device, at + Time::from_us(1));
    assert_eq!((recovery.programs_finished, recovery.programs_lost), (2048, 2));
    assert_eq!(recovery.bytes_lost, 2 * 16_384);
    let found = [0, 16, 33, 48].map(|mib| read(&mut *device, recovery.done, mib << 20));
    assert_eq!(found, [1, 2, 0, 0]);
    // If only the changed pages are saved, the energy is sufficient for all of them.
    let mut device = with_bytes(&small(&format!("{settings}dump = \"changed\"\n")));
    for (address, stamp) in [(0, 1), (48 << 20, 4)] {
        at = write(&mut *device, at, address, stamp);
    }
    let recovery = fail(&mut *device, at + Time::from_us(1));
    assert_eq!((recovery.programs_finished, recovery.bytes_lost), (2, 0));
    assert_eq!(read(&mut *device, recovery.done, 48 << 20), 4);
}

#[test]
fn a_capacitor_that_is_not_charged_again_saves_what_it_can() {
    let mut device = with_bytes(&small("capacitor = \"1.69 J\"\nwait_for_charge = false\n"));
    let at = write(&mut *device, Time::ZERO, 48 << 20, 1) + Time::from_us(1);
    let recovery = fail(&mut *device, at);
    assert_eq!(recovery.bytes_lost, 0);
    // 142 ms after power returned, the capacitor has 0.71 J of the 1.69 J, which is enough for the first
    // 1,700 of 4,096 pages.
    let at = write(&mut *device, recovery.done, 48 << 20, 2);
    let recovery = fail(&mut *device, at);
    assert!((1690..1720).contains(&recovery.programs_finished), "{recovery:?}");
    assert_eq!(read(&mut *device, recovery.done, 48 << 20), 1, "the flash had it");
}

#[test]
fn a_capacitor_grows_old() {
    let card = |hours| small(&format!("capacitor = \"2 J\"\ncapacitor_hours = {hours}\n"));
    // At a loss of 0.35 % of 2 J per 1,000 hours, 1.6877 J remain after 44,600 hours.
    assert!(workbench(1).build(&card(44_000)).is_ok());
    let problems = workbench(1).build(&card(45_000)).err().expect("it is too old");
    assert!(problems.to_string().contains("capacitor"), "{problems}");
}

/// A write to MRAM is durable when its row is closed. The row can be closed after tRTP or tWR, and closing
/// the row takes tRP.
#[test]
fn a_write_to_mram_is_safe_when_its_row_is_closed() {
    let closing_ns = 15.0 + 67.536;
    let toml = |written: &str| format!("{MRAM}processing = \"0 s\"\nwritten = \"{written}\"\n{NO_HOST}");
    let done = |written: &str| write(&mut *built(&toml(written)), Time::ZERO, 0, 1).as_ns_f64();
    let (in_row, closed) = (done("in_row"), done("closed"));
    assert!((closed - in_row - closing_ns).abs() < 2.0 * 1.876, "{in_row} ns and {closed} ns");
    // The write is acknowledged but not flushed, and the last of its eight rows is not closed and may be
    // lost.
    let loses = |written: &str, seed| {
        let mut device = with_bytes(&toml(written));
        let at = write(&mut *device, Time::ZERO, 0, 1) + Time::from_ns(1);
        device.run(at, &mut Completions::new());
        device.power_fail(at, &mut Streams::new(seed).stream("chance"));
        let ready = device.recover(at).done;
        let request = Request { arrival: ready, address: 0, bytes: 4096, volume: 0, op: Op::Read };
        let answer = ask(&mut *device, ready, &request, Payload::NONE);
        answer.data.bytes().expect("it carries bytes").contains(&0)
    };
    assert!((0..3).any(|seed| loses("in_row", seed)));
    assert!(!(0..3).any(|seed| loses("closed", seed)));
}

#[test]
fn the_report_says_what_a_capacitor_saves() {
    let device = built(&small("capacitor = \"848.862 mJ\"\nmay_lose_writes = true\n"));
    let columns = device.report(Time::ZERO).columns;
    let value = |name| columns.iter().find(|column| column.name == name).expect("it is there").values[0];
    let needed = Energy(10.0 * (1e-3 + 4096.0 * 16_384.0 / 400e6));
    assert!((value("dump.needs_j") / needed.0 - 1.0).abs() < 1e-6);
    assert!((value("dump.saves_share") - 0.5).abs() < 1e-6);
}

/// Tests the effect of error correction on the time and energy of a dump, and the count of unreadable
/// pages. A page has eight codewords of 2 KiB, each with a BCH code over GF(2^15) that corrects two bits
/// with 30 bits of parity.
#[test]
fn error_correction_takes_its_share_of_the_dump_and_what_it_cannot_put_right_is_counted() {
    let column = |settings: &str, name: &str| {
        let report = built(&small(settings)).report(Time::ZERO);
        let found = report.columns.iter().find(|column| column.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).values[0]
    };
    let code = "[device.flash_ecc]\nkind = \"bch\"\nt = 2\ncodeword = \"2 KiB\"\ndecode = \"15 us\"\n";
    let bits = 15.0 * 2.0;
    let spare = 8.0 * (bits / 8.0_f64).ceil();
    assert!((column(code, "dump.ecc_share") - spare / 16_384.0).abs() < 1e-9);
    let seconds = 1e-3 + 4096.0 * (16_384.0 + spare) / 400e6;
    assert!((column(code, "dump.s") - seconds).abs() < 1e-6, "{} s", column(code, "dump.s"));
    assert!((column(code, "dump.needs_j") - 10.0 * seconds).abs() < 1e-5);
    // Decoding eight codewords of 30 us each is slower than the flash, which reads a page in 10 us.
    let restored = 4096.0 * 8.0 * 30e-6;
    assert!((column(code, "dump.restores_s") - restored).abs() < 1e-3 * restored);
    assert_eq!(column(code, "dump.unreadable_pages"), 0.0);
    // The probability of three or more errors among n bits with error probability p is n^3 p^3 / 6 for small
    // np.
    let rate = 1e-6;
    let n = 2048.0 * 8.0 + bits;
    let expected = 4096.0 * 8.0 * libm::pow(n * rate, 3.0) / 6.0;
    let found = column(&format!("flash_error_rate = \"0.0001 %\"\n{code}"), "dump.unreadable_pages");
    assert!((found / expected - 1.0).abs() < 0.02, "{found} pages, expected {expected}");
    // Without a code, every page with a bit error is lost.
    let found = column("flash_error_rate = \"0.0001 %\"\n", "dump.unreadable_pages");
    let expected = 4096.0 * (1.0 - libm::exp(-16_384.0 * 8.0 * rate));
    assert!((found / expected - 1.0).abs() < 1e-4, "{found} pages, expected {expected}");
}

/// Tests the random selection of pages that are unreadable after a power loss. If each of n pages is lost
/// with probability p, the number of lost pages has the mean n p and the variance n p (1 - p).
#[test]
fn pages_that_cannot_be_read_back_are_drawn_told_and_not_read() {
    const PAGES: u64 = 4096;
    const ROUNDS: u64 = 64;
    let p = 1.0 - libm::exp(-16_384.0 * 8.0 * 8e-7);
    let mut device = built(&small("flash_error_rate = \"0.00008 %\"\n"));
    assert_eq!(device.capabilities().persistence, Persistence::WithStoredEnergy);
    let page_of = |device: &mut dyn Device, now, op, page| {
        let request = Request { arrival: now, address: page * 16_384, bytes: 16_384, volume: 0, op };
        ask(device, now, &request, Payload::NONE)
    };
    let lost_pages = |device: &dyn Device| {
        let counters = device.report(Time::ZERO).counters;
        counters.iter().find(|(name, _)| *name == "lost_pages").expect("it is counted").1
    };
    let (mut now, mut losses) = (Time::ZERO, Vec::new());
    for round in 0..ROUNDS {
        for page in 0..PAGES {
            now = page_of(&mut *device, now, Op::Write, page).done;
        }
        let before = lost_pages(&*device);
        device.power_fail(now, &mut Streams::new(round).stream("chance"));
        let recovery = device.recover(now + Time::from_s(1));
        now = recovery.done;
        let lost = lost_pages(&*device) - before;
        assert_eq!(recovery.bytes_lost, lost * 16_384, "losses are reported");
        let mut unread = 0;
        for page in 0..PAGES {
            let read = page_of(&mut *device, now, Op::Read, page);
            unread += u64::from(read.status != Status::Done);
            now = read.done;
        }
        assert_eq!(unread, lost);
        losses.push(lost as f64);
    }
    let mean = losses.iter().sum::<f64>() / ROUNDS as f64;
    let variance = losses.iter().map(|lost| (lost - mean) * (lost - mean)).sum::<f64>() / (ROUNDS - 1) as f64;
    let expected = PAGES as f64 * p;
    let expected_variance = expected * (1.0 - p);
    // The tolerances are four standard errors of mean and variance over these rounds.
    let of_mean = (expected_variance / ROUNDS as f64).sqrt();
    assert!((mean - expected).abs() < 4.0 * of_mean, "{mean} pages of {expected}");
    let of_variance = expected_variance * (2.0 / (ROUNDS - 1) as f64).sqrt();
    assert!((variance - expected_variance).abs() < 4.0 * of_variance, "{variance} of {expected_variance}");
}

/// Pages that the host never wrote are not lost. If the host rewrites a lost page, the page is readable
/// again.
#[test]
fn only_pages_that_were_written_are_lost_and_only_until_they_are_written_again() {
    let mut device = with_bytes(&small("flash_error_rate = \"10 %\"\n"));
    let at = write(&mut *device, Time::ZERO, 8192, 1);
    let recovery = fail(&mut *device, at + Time::from_us(1));
    assert_eq!(recovery.bytes_lost, 16_384);
    let status = |device: &mut dyn Device, us, address| {
        let at = recovery.done + Time::from_us(us);
        let request = Request { arrival: at, address, bytes: 4096, volume: 0, op: Op::Read };
        ask(device, at, &request, Payload::NONE).status
    };
    let statuses =
        [(0, 8192), (100, 12_288), (200, 16_384)].map(|(us, address)| status(&mut *device, us, address));
    assert_eq!(statuses, [Status::MediaError, Status::MediaError, Status::Done]);
    let at = write(&mut *device, recovery.done + Time::from_us(300), 8192, 2);
    assert_eq!(read(&mut *device, at, 8192), 2);
    assert_eq!(status(&mut *device, 500, 12_288), Status::MediaError);
}

/// If a power loss undoes the write that rewrites a lost page, the page stays lost, and reads do not return
/// its data from before the loss. Each page is lost with a probability of 1/2, so the page is lost in some
/// rounds but not in others.
#[test]
fn what_is_lost_stays_lost_where_the_write_that_was_to_replace_it_is_undone() {
    let mut tried = 0;
    for seed in 0..16 {
        let mut device = with_bytes(&small("flash_error_rate = \"0.00053 %\"\n"));
        let mut chance = Streams::new(seed).stream("chance");
        let mut lose = |device: &mut dyn Device, at| {
            device.run(at, &mut Completions::new());
            device.power_fail(at, &mut chance);
            device.recover(at + Time::from_s(1))
        };
        let at = write(&mut *device, Time::ZERO, 0, 1);
        let first = lose(&mut *device, at);
        if first.bytes_lost == 0 {
            continue;
        }
        let again = Request { arrival: first.done, address: 0, bytes: 4096, volume: 0, op: Op::Write };
        device.submit(first.done, RequestId(0), &again, vec![2; 4096].into());
        let second = lose(&mut *device, first.done);
        let request = Request { arrival: second.done, address: 0, bytes: 4096, volume: 0, op: Op::Read };
        let read = ask(&mut *device, second.done, &request, Payload::NONE);
        assert_eq!(read.status, Status::MediaError);
        assert_eq!(second.bytes_lost, 0, "it was reported before");
        tried += 1;
    }
    assert!(tried > 3, "{tried} of 16");
}
