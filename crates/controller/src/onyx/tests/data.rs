//! Tests of programs that depend on the data, of error correction, and of stored energy.

use super::{drive, random, request};
use crate::ecc::binomial_tail;
use crate::workbench::{Answer, ask, ecc, workbench};
use nacre_kernel::event::{Device, Payload};
use nacre_kernel::{Activity, ComponentReport, Op, Persistence, Status, Time};
use nacre_testkit::assert_close;

/// One controller, with a host path that takes no time.
const BARE: &str = "controllers = 1\ndriver = \"0 s\"\npipeline = \"0 s\"\nlink = \"1000 GB/s\"\n\
    ring = \"1000 GB/s\"\nrow_setup = \"0 s\"\nwear_leveling = \"none\"\n";
const SEC: &str = "ecc = { kind = \"bch\", t = 1, codeword = \"8 B\" }\n";

fn counter(report: &ComponentReport, name: &str) -> u64 {
    report.counters.iter().find(|counter| counter.0 == name).expect("it is counted").1
}

fn with_bytes(settings: &str) -> Box<dyn Device> {
    workbench(1).with_bytes().build(&format!("kind = \"onyx\"\n{BARE}{settings}")).unwrap()
}

fn write(onyx: &mut dyn Device, ms: u64, bytes: Vec<u8>) -> Time {
    let now = Time::from_ms(ms);
    ask(onyx, now, &request(Op::Write, 0, bytes.len() as u32), bytes.into()).done - now
}

fn read(onyx: &mut dyn Device, ms: u64, bytes: u32) -> Answer {
    ask(onyx, Time::from_ms(ms), &request(Op::Read, 0, bytes), Payload::NONE)
}

/// Each nonzero word of a write adds 2 us to the program time. A chunk has 32 words of 8 B.
#[test]
fn a_program_takes_longer_with_every_written_word() {
    let mut onyx = with_bytes("completion = \"late\"\nlate_refill = \"0 s\"\nprogram_zeros = \"56 us\"\n");
    let zeros = write(&mut *onyx, 1, vec![0; 256]);
    assert!(zeros > Time::from_us(56) && zeros < Time::from_us(60), "{zeros}");
    for words in [1, 7, 32] {
        let mut bytes = vec![0; 256];
        (0..words).for_each(|word| bytes[word * 8 + word % 8] = 1);
        let more = write(&mut *onyx, 2 + words as u64, bytes) - zeros;
        assert_eq!(more, Time::from_us(2 * words as u64), "{words} words");
    }
    // Half of a chunk takes the same time as a whole chunk of such data.
    let halves = [0, 9].map(|byte| write(&mut *onyx, 40 + byte, vec![byte as u8; 128]));
    assert_eq!(halves[1] - halves[0], Time::from_us(64));
}

#[test]
fn writes_without_data_have_the_stated_share_of_zeros() {
    let alone = |share: &str| {
        let settings =
            format!("{BARE}completion = \"late\"\nprogram_zeros = \"56 us\"\nzero_words = \"{share}\"\n");
        ask(&mut *drive(&settings), Time::ZERO, &request(Op::Write, 0, 256), Payload::NONE).done
    };
    assert_eq!(alone("0 %") - alone("100 %"), Time::from_us(64));
    assert_eq!(alone("50 %") - alone("100 %"), Time::from_us(32));
    // 1 % of 32 words is less than one word, so no word is zero.
    assert_eq!(alone("1 %"), alone("0 %"));
}

#[test]
fn the_energy_of_a_program_is_in_proportion_to_its_time() {
    let energy = |share: &str| {
        let settings = format!(
            "program_energy = \"2 uJ\"\nread_energy = \"1 nJ\"\nprogram_zeros = \"30 us\"\nzero_words = \"{share}\"\n"
        );
        let mut onyx = drive(&format!("{BARE}{settings}"));
        let end = random(&mut *onyx, 4, 100, Op::Write, 4096).end;
        onyx.report(end).energy(Activity::Write).0
    };
    let whole = 100.0 * 16.0 * 5.0 * 2e-6;
    assert_close("arbitrary data", energy("0 %"), whole, 1e-9);
    assert_close("zeros", energy("100 %"), whole / 4.0, 1e-9);
    assert_close("half", energy("50 %"), whole * 0.625, 1e-9);
}

/// The controller detects the end of a program at the next poll. A program of 120 us takes exactly 12 polling
/// intervals, so the twelfth poll detects its end. The end of a program of 121 us is detected at 130 us.
#[test]
fn the_end_of_a_program_is_seen_at_the_next_poll() {
    let alone = |settings: &str| {
        let mut onyx = drive(&format!("{BARE}completion = \"late\"\n{settings}"));
        let done = ask(&mut *onyx, Time::ZERO, &request(Op::Write, 0, 256), Payload::NONE).done;
        (done, onyx.report(done))
    };
    let (at_once, _) = alone("");
    for (program, seen_us, polls) in [("120 us", 120, 12), ("121 us", 130, 13), ("7 us", 10, 1)] {
        let (done, report) = alone(&format!("program = \"{program}\"\npoll_interval = \"10 us\"\n"));
        assert_eq!(done + Time::from_us(120) - at_once, Time::from_ns(seen_us * 1000 + 115), "{program}");
        assert_eq!(counter(&report, "polls"), polls);
    }
}

/// The lines transfer ten bytes for each eight bytes of data, and after the last beat, the decoder needs the
/// time of one beat.
#[test]
fn a_read_passes_the_decoder_and_carries_the_spare_bytes() {
    let alone = |settings: &str| {
        let mut onyx = drive(&format!("{BARE}{settings}"));
        let done = ask(&mut *onyx, Time::ZERO, &request(Op::Read, 0, 4096), Payload::NONE).done;
        (done, counter(&onyx.report(done), "line_bytes"))
    };
    let (bare, bytes) = alone("");
    assert_eq!(bytes, 4096 / 8 * 10);
    // 15 us per bit and 2 KiB are 468.75 ns per beat, which is longer than the 410.3 ns to read a beat.
    let (decoded, _) = alone(SEC);
    let beat = 468_744;
    assert_eq!(decoded - bare, Time::from_ps(64 * beat - 63 * 410_300));
    let (quick, _) = alone(&SEC.replace("t = 1", "t = 1, decode = \"1024 ns\""));
    assert_eq!(quick - bare, Time::from_ns(32));
}

/// The number of uncorrectable codewords follows the binomial distribution, for codes that correct one bit of
/// 8 B or four bits of 64 B.
#[test]
fn a_code_corrects_as_many_bit_errors_as_its_strength() {
    let reads = 20_000;
    for (code, t) in [("kind = \"bch\"\nt = 1\ncodeword = \"8 B\"", 1), ("kind = \"bch\"\nt = 4", 4)] {
        let layout = ecc(code, 64).expect("it fits").layout();
        let inline = code.replace('\n', ", ");
        let mut onyx = drive(&format!("{BARE}ecc = {{ {inline} }}\nbit_error_rate = 0.002\n"));
        let end = random(&mut *onyx, 4, reads, Op::Read, 512).end;
        let report = onyx.report(end);
        let codewords = (reads * 8 * u64::from(layout.codewords)) as f64;
        let tail = |most| binomial_tail(layout.codeword_bits, 0.002, most);
        let failed = codewords * tail(t);
        let close = |name: &str, expected: f64| {
            let found = counter(&report, name) as f64;
            assert!((found - expected).abs() < 6.0 * expected.sqrt() + 3.0, "{name}: {found} for {expected}");
        };
        close("codewords_uncorrectable", failed);
        // Sum of the tails from one to t, minus the codewords with more than t errors in each.
        let corrected: f64 = (0..t).map(|most| tail(most) - tail(t)).sum();
        close("bits_corrected", codewords * corrected);
        assert_eq!(counter(&report, "codewords_wrong"), 0);
    }
}

#[test]
fn an_uncorrectable_read_fails_and_an_undetected_one_is_wrong() {
    let (mut failed, mut wrong) = (0, 0);
    let mut coded = with_bytes(&format!("{SEC}bit_error_rate = 0.005\n"));
    let mut bare = with_bytes("bit_error_rate = 0.005\n");
    let written: Vec<u8> = (0..512).map(|byte| byte as u8).collect();
    write(&mut *coded, 1, written.clone());
    write(&mut *bare, 1, written.clone());
    for ms in 2..200 {
        let answer = read(&mut *coded, ms, 512);
        match answer.status {
            Status::MediaError => failed += 1,
            _ => assert_eq!(answer.data.bytes(), Some(&*written)),
        }
        let answer = read(&mut *bare, ms, 512);
        assert_eq!(answer.status, Status::Done);
        wrong += u64::from(answer.data.bytes() != Some(&*written));
    }
    assert!(failed > 100 && wrong > 190, "{failed} failed, {wrong} wrong");
}

/// The durability guarantee covers acknowledged writes if the capacitors have the energy to program full
/// buffers. This energy is 8 controllers * 3 writes * 16 chunks * 5 chips * 2 uJ = 3.84 mJ.
#[test]
fn acknowledged_writes_survive_if_the_capacitors_cover_full_buffers() {
    for (held, may_lose, persistence) in
        [("3.84 mJ", false, Persistence::OnAcknowledgement), ("3.8 mJ", true, Persistence::WithStoredEnergy)]
    {
        let onyx = drive(&format!(
            "program_energy = \"2 uJ\"\ncapacitors = \"{held}\"\nmay_lose_writes = {may_lose}\n"
        ));
        assert_eq!(onyx.capabilities().persistence, persistence);
    }
}
