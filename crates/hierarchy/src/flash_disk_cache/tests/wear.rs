//! Tests of wear: reactions of the controller, and reports when no slot can be adapted any more.

use super::{BCH, build, column, device, request, settings, submit};
use nacre_kernel::event::Payload;
use nacre_kernel::{Op, Status, Streams, Time};
use nacre_testkit::Host;

/// Cells that wear out after several hundred erases.
const WEAK: &str = "blocks = 32\nslots = 8\nwrite_region = \"25 %\"\nmlc_endurance = 20\nslc_endurance = 200\n\
    wear_gap = 4\nstrength_weight = 0\ndensity_weight = 0\n";

const FIXED: &str = "raises_strength = false\nlowers_density = false\npromotes = false\n";

/// Performs random requests until no flash is left, but at most `most` requests. Returns the number of
/// requests and the number of errors.
fn wear_down(device: &mut Host, most: u64) -> (u64, u64) {
    let mut random = Streams::new(3).stream("pages");
    let (mut now, mut errors) = (Time::ZERO, 0);
    for number in 0..most {
        let op = if random.chance(0.4) { Op::Read } else { Op::Write };
        let answer = submit(device, now, op, random.below(300) * 2048, 2048);
        errors += u64::from(answer.1 == Status::MediaError);
        now = answer.0;
        if number % 1_000 == 0 && column(device, "flash.usable_share") < 0.3 {
            return (number, errors);
        }
    }
    (most, errors)
}

#[test]
fn a_controller_that_adapts_lives_longer_and_each_part_helps() {
    let life = |options: &str| {
        let mut device = build(&format!("{WEAK}{options}"), BCH);
        let (life, _) = wear_down(&mut device, 400_000);
        device.check();
        (life, device)
    };
    let (fixed, device) = life(FIXED);
    assert!(device.count("retired_slots") > 100 && device.count("strength_raised") == 0);
    let (stronger, device) = life("lowers_density = false\npromotes = false\n");
    assert!(device.count("strength_raised") > 100 && device.count("density_lowered") == 0);
    let (sparser, device) = life("raises_strength = false\npromotes = false\n");
    assert!(device.count("density_lowered") > 100 && device.count("strength_raised") == 0);
    let (both, _) = life("promotes = false\n");
    assert!(fixed * 2 < stronger && fixed * 2 < sparser, "{fixed} {stronger} {sparser}");
    assert!(both > stronger && both > sparser, "{both} {stronger} {sparser}");
}

#[test]
fn a_page_that_is_hit_often_moves_to_one_bit_in_a_cell() {
    let options = "blocks = 32\nslots = 8\nwrite_region = \"25 %\"\npromotes_at = 10\nbit_error_rate = 0";
    let mut device = build(options, "kind = \"bch\"\nt = 1");
    let mut times = Vec::new();
    for read in 0..20 {
        let now = Time::from_ms(10 * read);
        times.push(submit(&mut device, now, Op::Read, 0, 2048).0 - now);
    }
    assert_eq!(device.count("pages_promoted"), 1);
    assert_eq!([times[2], times[19]], [Time::from_us(50 + 15), Time::from_us(25 + 15)]);
}

/// Tests that wear leveling exchanges blocks of the write region with less worn blocks of the read region.
#[test]
fn wear_is_leveled_over_both_regions() {
    let spread = |gap: u64| {
        let options =
            format!("blocks = 32\nslots = 8\nwrite_region = \"25 %\"\nbit_error_rate = 0\nwear_gap = {gap}");
        let mut device = build(&options, BCH);
        let mut now = Time::ZERO;
        let mut random = Streams::new(3).stream("pages");
        (0..600).for_each(|page| now = submit(&mut device, now, Op::Read, page * 2048, 2048).0);
        for _ in 0..30_000 {
            now = submit(&mut device, now, Op::Write, (600 + random.below(300)) * 2048, 2048).0;
        }
        device.check();
        let mut erases = device.device.report(now).wear.expect("it wears").block_erases;
        erases.sort_unstable();
        (erases[0], erases[31])
    };
    let ((least, most), (_, alone)) = (spread(8), spread(100_000));
    assert!(most - least <= 2 * 8 + 1 && alone > 2 * most, "{least} to {most}, and {alone}");
}

/// In a simulation with data and cells that wear out, every successful read returns the data of the last
/// write.
#[test]
fn uncorrectable_pages_are_never_returned_as_good() {
    // A code for one bit error decodes half of all pages with two bit errors to another codeword. It has no
    // checksum that detects this.
    let bare = "kind = \"bch\"\nt = 1";
    let none = "kind = \"none\"";
    for (options, code) in [(FIXED, BCH), ("promotes_at = 5\n", BCH), (FIXED, bare), (FIXED, none)] {
        let toml = settings(&format!("{WEAK}{options}"), code);
        let mut device = Host::new(device(&toml, true));
        let mut random = Streams::new(3).stream("pages");
        let (mut now, mut errors) = (Time::ZERO, 0);
        let mut written = vec![0_u8; 300];
        let mut is_lost = vec![false; 300];
        for number in 0..40_000_u64 {
            let page = random.below(300) as usize;
            if random.chance(0.5) {
                let stamp = number as u8 | 1;
                let bytes = vec![stamp; 2048].into();
                now = device.ask(now, request(Op::Write, page as u64 * 2048, 2048), bytes).0;
                (written[page], is_lost[page]) = (stamp, false);
                continue;
            }
            let read = request(Op::Read, page as u64 * 2048, 2048);
            let (at, status, found) = device.ask(now, read, Payload::NONE);
            now = at;
            if status == Status::Done {
                assert!(!is_lost[page], "page {page} was lost, and comes back");
                let expected = [written[page]; 2048];
                assert!(found.bytes() == Some(&expected[..]), "page {page} is wrong, request {number}");
            } else {
                (errors, is_lost[page]) = (errors + 1, true);
            }
        }
        device.check();
        let uncorrectable = device.count("uncorrectable");
        assert!(uncorrectable > 50 && errors > 0, "{uncorrectable} pages, {errors} errors: {options}");
        assert!(code == none || device.count("corrected_pages") > 100);
    }
}

/// Completion times are the same with and without data.
#[test]
fn bytes_change_no_time() {
    for (options, code, counted) in
        [("", BCH, "strength_raised"), (FIXED, "kind = \"none\"", "uncorrectable")]
    {
        let toml = settings(&format!("{WEAK}{options}"), code);
        let [mut bare, mut full] = [false, true].map(|bytes| Host::new(device(&toml, bytes)));
        let mut random = Streams::new(8).stream("pages");
        let mut now = Time::ZERO;
        for _ in 0..20_000 {
            let address = random.below(300) * 2048;
            let op = if random.chance(0.5) { Op::Read } else { Op::Write };
            let bytes = if op == Op::Write { vec![7; 2048].into() } else { Payload::NONE };
            let (at, status, _) = full.ask(now, request(op, address, 2048), bytes);
            let expected = bare.ask(now, request(op, address, 2048), Payload::NONE);
            assert_eq!((at, status), (expected.0, expected.1));
            now = at;
        }
        assert!(bare.count(counted) > 50, "{code}");
    }
}
