use super::*;
use nacre_kernel::state;

/// A rank of four P8P chips.
const RANK: Rank = Rank {
    beat: 64,
    read: Time::from_ns(314),
    chunk: 256,
    program: Time::from_us(120),
    zeros: Time::from_us(56),
    word: 8,
};

#[test]
fn an_access_takes_the_beats_and_chunks_it_touches() {
    for (offset, bytes, beats, chunks) in [
        (0, 1, 1, (0, 1)),
        (0, 4096, 64, (0, 16)),
        (63, 2, 2, (0, 1)),
        (255, 2, 2, (0, 2)),
        (3584, 512, 8, (14, 2)),
    ] {
        assert_eq!(RANK.beats(offset, bytes), beats, "beats of {bytes} B at {offset}");
        assert_eq!(RANK.chunks(offset, bytes), chunks, "chunks of {bytes} B at {offset}");
    }
}

/// Checks the bandwidths per chip of akel-2011, section 2.2: 48.6 MiB/s for reads, and 0.5 MiB/s for
/// programs.
#[test]
fn a_chip_reads_and_programs_as_fast_as_its_data_sheet_says() {
    let per_chip = |bytes: u64, time: Time| bytes as f64 / 4.0 / time.as_secs_f64() / f64::from(1 << 20);
    assert!((per_chip(RANK.beat, RANK.read) - 48.6).abs() < 0.05);
    assert!((per_chip(RANK.chunk, RANK.program) - 0.509).abs() < 0.001);
}

#[test]
fn rows_count_their_programs_and_wear_out_after_their_endurance() {
    let mut rows = Rows::new(10_000, 3);
    (0..5).for_each(|_| rows.program(9_999));
    rows.program(0);
    assert_eq!((rows.programs_of(9_999), rows.programs_of(0), rows.programs_of(5_000)), (5, 1, 0));
    assert_eq!((rows.programs(), rows.worn_out()), (6, 1));
    assert_eq!(
        [rows.programs_in(1, 20_000), rows.programs_in(0, 9_999), rows.programs_in(1, 2)],
        [(5, 5), (1, 1), (0, 0)]
    );
    rows.check_invariants();
}

/// Checks that programs of many rows at once have the same counts as single programs. The rows cross the
/// boundaries of counter tables, and some rows wear out.
#[test]
fn many_programs_at_once_count_as_one_after_the_other() {
    let (mut at_once, mut one_by_one) = (Rows::new(9000, 3), Rows::new(9000, 3));
    for (row, count) in [(4100, 10), (4096, 1), (8999, 9000), (4100, 4101), (4097, 2), (4100, 3)] {
        let first = (0..count).find(|&index| one_by_one.programs_of(row - index) == 3);
        assert_eq!(at_once.first_worn_down(row, count), first);
        at_once.program_down(row, count);
        (0..count).for_each(|index| one_by_one.program(row - index));
    }
    at_once.program_often(7, 100);
    (0..100).for_each(|_| one_by_one.program(7));
    assert!((0..9000).all(|row| at_once.programs_of(row) == one_by_one.programs_of(row)));
    assert_eq!((at_once.programs(), at_once.worn_out()), (one_by_one.programs(), one_by_one.worn_out()));
    at_once.check_invariants();
    let bytes = state::saved(&at_once).unwrap();
    let mut restored = Rows::new(9000, 3);
    state::restored(&mut restored, &bytes).unwrap();
    assert!((0..9000).all(|row| restored.programs_of(row) == one_by_one.programs_of(row)));
    assert!(state::restored(&mut Rows::new(8999, 3), &bytes).is_err(), "of other rows");
}

/// Compares the numbers of nonzero words per chunk with a byte-by-byte count.
#[test]
fn words_that_are_not_zero_are_counted_by_chunk() {
    let mut random = nacre_kernel::Streams::new(1).stream("data");
    for _ in 0..500 {
        let (offset, count) = (random.below(600), 1 + random.below(900));
        let density = [0.0, 0.02, 0.5, 1.0][random.below(4) as usize];
        let bytes: Vec<u8> = (0..count).map(|_| u8::from(random.chance(density)) * 7).collect();
        let found = RANK.written_words(offset, &bytes);
        let (first, chunks) = RANK.chunks(offset, count);
        assert_eq!(found.len() as u64, chunks);
        for (chunk, found) in (first..).zip(found) {
            let (mut touched, mut written) = (vec![false; 32], vec![false; 32]);
            for (position, &byte) in (offset..).zip(&bytes).filter(|(position, _)| position / 256 == chunk) {
                let word = (position % 256 / 8) as usize;
                touched[word] = true;
                written[word] |= byte != 0;
            }
            let of = |words: &[bool]| words.iter().filter(|&&is| is).count() as f64;
            let expected = (32.0 * of(&written) / of(&touched)).ceil();
            assert_eq!(f64::from(found), expected, "chunk {chunk} of {count} bytes at {offset}");
        }
    }
}

#[test]
fn a_program_takes_longer_with_every_word_that_is_not_zero() {
    for (written, us) in [(0, 56), (1, 58), (16, 88), (32, 120)] {
        assert_eq!(RANK.program_of(written), Time::from_us(us));
    }
    let constant = Rank { zeros: RANK.program, ..RANK };
    assert!([0, 1, 32].iter().all(|&written| constant.program_of(written) == RANK.program));
}
