//! Tests of whole codewords with corrected, detected, and undetected bit errors.

use super::super::super::Verdict;
use super::super::code::Code;
use super::{codeword, flipped, places};
use nacre_kernel::Streams;

fn decoded(code: &Code, read: &[Vec<u8>; 2]) -> (Verdict, [Vec<u8>; 2]) {
    let [mut data, mut spare] = read.clone();
    let verdict = code.decode(&mut data, &mut spare).unwrap();
    (verdict, [data, spare])
}

#[test]
fn every_number_of_wrong_bits_up_to_t_is_put_right() {
    let mut random = Streams::new(1).stream("corrected");
    let lengths = [(13, 512, 0), (13, 100, 4), (14, 1024, 4), (15, 2048, 0), (16, 4096, 4)];
    for (m, data_bytes, head_bytes) in lengths {
        for t in [1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 17, 24, 31, 32, 33, 40] {
            let code = Code::new(m, t, data_bytes, head_bytes).unwrap();
            let sent = codeword(&code, data_bytes, &mut random);
            assert_eq!(decoded(&code, &sent), (Verdict::Clean, sent.clone()));
            for errors in 1..=t {
                let read = flipped(&sent, &places(errors, code.bits(), &mut random));
                assert_eq!(
                    decoded(&code, &read),
                    (Verdict::Corrected(errors), sent.clone()),
                    "m = {m}, t = {t}"
                );
            }
        }
    }
}

#[test]
fn a_wrong_bit_is_put_right_wherever_it_is() {
    let code = Code::new(15, 2, 2048, 4).unwrap();
    let sent = codeword(&code, 2048, &mut Streams::new(1).stream("anywhere"));
    for place in 0..code.bits() as usize {
        let read = flipped(&sent, &[place]);
        assert_eq!(decoded(&code, &read), (Verdict::Corrected(1), sent.clone()), "bit {place}");
    }
}

/// A burst of bit errors is corrected like any other pattern with the same number of bit errors.
#[test]
fn wrong_bits_side_by_side_are_put_right() {
    let code = Code::new(13, 8, 512, 0).unwrap();
    let sent = codeword(&code, 512, &mut Streams::new(1).stream("burst"));
    for first in 0..code.bits() as usize - 8 {
        let burst: Vec<usize> = (first..first + 8).collect();
        assert_eq!(decoded(&code, &flipped(&sent, &burst)), (Verdict::Corrected(8), sent.clone()));
    }
}

/// A pattern of `t + 1` bit errors within distance `t` of another codeword is decoded to that codeword. There
/// are about `C(n, 2t + 1) / 2^(m t)` codewords of weight `2t + 1`, each within distance `t` of `C(2t + 1,
/// t)` such patterns, out of `C(n, t + 1)` patterns. This is a share of `C(n - t - 1, t) / 2^(m t)`, which is
/// nearly `1/t!` at full length.
#[test]
fn one_wrong_bit_too_many_comes_out_as_another_codeword_as_often_as_the_theory_says() {
    const PATTERNS: u32 = 4000;
    let mut random = Streams::new(1).stream("beyond");
    for (m, t, data_bytes) in
        [(13, 1, 512), (13, 2, 1020), (13, 2, 512), (13, 3, 1019), (14, 2, 2000), (15, 3, 4090)]
    {
        let code = Code::new(m, t, data_bytes, 0).unwrap();
        let ways = (0..t)
            .fold(1.0, |ways, taken| ways * f64::from(code.bits() - t - 1 - taken) / f64::from(taken + 1));
        let expected = ways / (1u64 << (m * t)) as f64;
        let sent = codeword(&code, data_bytes, &mut random);
        let mut others = 0;
        for _ in 0..PATTERNS {
            let read = flipped(&sent, &places(t + 1, code.bits(), &mut random));
            let (verdict, result) = decoded(&code, &read);
            if verdict == Verdict::Uncorrectable {
                assert_eq!(result, read, "nothing was changed");
            } else {
                assert!(
                    result != sent && decoded(&code, &result).0 == Verdict::Clean,
                    "it is another codeword"
                );
                others += 1;
            }
        }
        let share = f64::from(others) / f64::from(PATTERNS);
        let deviation = (expected * (1.0 - expected) / f64::from(PATTERNS)).sqrt();
        assert!((share - expected).abs() < 4.0 * deviation, "m = {m}, t = {t}: {share}, expected {expected}");
    }
}

#[test]
fn many_wrong_bits_are_noticed_by_a_strong_code() {
    // A share of C(n, t) / 2^(m t), below 1e-9 for this code, decodes to another codeword.
    let code = Code::new(15, 12, 2048, 0).unwrap();
    let mut random = Streams::new(1).stream("many");
    let sent = codeword(&code, 2048, &mut random);
    for errors in [13, 14, 20, 100, 1000] {
        for _ in 0..50 {
            let read = flipped(&sent, &places(errors, code.bits(), &mut random));
            assert_eq!(decoded(&code, &read), (Verdict::Uncorrectable, read));
        }
    }
}

#[test]
fn bits_beyond_the_parity_do_not_count() {
    // 180 bits of parity take 23 bytes.
    let code = Code::new(15, 12, 2048, 0).unwrap();
    let sent = codeword(&code, 2048, &mut Streams::new(1).stream("unused"));
    assert_eq!((code.bits(), sent[1].len(), sent[1][22] & 0x0f), (16_564, 23, 0));
    let mut read = sent.clone();
    read[1][22] |= 0x0f;
    assert_eq!(decoded(&code, &read), (Verdict::Clean, sent));
}

#[test]
fn codes_that_do_not_exist_are_refused_in_words() {
    let refused = |m, t, bytes| Code::new(m, t, bytes, 0).err().expect("there is no such code").0;
    assert_eq!(refused(12, 4, 256), "m is 12; the fields are GF(2^13) to GF(2^16)");
    assert_eq!(refused(15, 0, 2048), "t is 0; codes correct 1 to 40 bits");
    assert_eq!(refused(15, 41, 2048), "t is 41; codes correct 1 to 40 bits");
    assert_eq!(
        refused(13, 4, 2048),
        "a codeword over GF(2^13) has up to 8191 bits; 16384 bits and 52 bits of parity are 16436"
    );
    assert!(Code::new(13, 3, 1019, 0).is_ok(), "8191 bits fit");
    assert!(Code::new(13, 3, 1020, 0).is_err(), "8199 bits do not");
}

#[test]
fn lengths_that_are_not_the_codes_are_refused_in_words() {
    let code = Code::new(15, 4, 2048, 0).unwrap();
    for (data, spare) in [(2047, 8), (2049, 8), (0, 8), (2048, 7), (2048, 9), (2048, 0)] {
        let text = format!(
            "{data} bytes of data and {spare} spare bytes; a BCH codeword with t = 4 takes 2048 and 8"
        );
        assert_eq!(code.encode(&vec![0; data], &mut vec![0; spare]).unwrap_err().0, text);
        assert_eq!(code.decode(&mut vec![0; data], &mut vec![0; spare]).unwrap_err().0, text);
    }
}
