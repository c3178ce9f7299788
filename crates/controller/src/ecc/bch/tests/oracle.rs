//! Independent implementation of the codes from their definition: slow, and without tables.

use super::super::super::Verdict;
use super::super::code::Code;
use super::super::field::Field;
use super::{codeword, flipped};
use nacre_kernel::Streams;

/// Computes `left * right` in the field of `polynomial` with shifts and additions.
fn times(left: u32, right: u32, polynomial: u32, m: u32) -> u32 {
    (0..m).rev().fold(0, |sum, bit| {
        let doubled = sum << 1;
        let doubled = if doubled >> m == 1 { doubled ^ polynomial } else { doubled };
        if right >> bit & 1 == 1 { doubled ^ left } else { doubled }
    })
}

/// The generator: the polynomial of least degree over GF(2) with the roots `a` to `a^(2 t)`, lowest
/// coefficient first.
fn generator(polynomial: u32, m: u32, t: u32) -> Vec<u32> {
    let order = (1u32 << m) - 1;
    let powers: Vec<u32> = std::iter::successors(Some(1), |&value| Some(times(value, 2, polynomial, m)))
        .take(order as usize)
        .collect();
    let mut exponents: Vec<u32> = Vec::new();
    for root in 1..=2 * t {
        let conjugates = (0..m).map(|square| (u64::from(root) * (1u64 << square) % u64::from(order)) as u32);
        for conjugate in conjugates {
            if !exponents.contains(&conjugate) {
                exponents.push(conjugate);
            }
        }
    }
    let mut product = vec![1];
    for root in exponents.into_iter().map(|exponent| powers[exponent as usize]) {
        let mut next = vec![0; product.len() + 1];
        for (at, &coefficient) in product.iter().enumerate() {
            next[at + 1] ^= coefficient;
            next[at] ^= times(coefficient, root, polynomial, m);
        }
        product = next;
    }
    assert!(product.iter().all(|&coefficient| coefficient <= 1), "it is over GF(2)");
    product
}

/// The parity of `message`, bit by bit.
fn parity(message: &[u8], generator: &[u32]) -> Vec<u8> {
    let degree = generator.len() - 1;
    let mut rest: Vec<u32> =
        message.iter().flat_map(|byte| (0..8).rev().map(move |bit| u32::from(byte >> bit & 1))).collect();
    rest.extend(std::iter::repeat_n(0, degree));
    for at in 0..8 * message.len() {
        if rest[at] == 1 {
            for (place, &coefficient) in generator.iter().rev().enumerate() {
                rest[at + place] ^= coefficient;
            }
        }
    }
    let bits = &rest[8 * message.len()..];
    bits.chunks(8)
        .map(|bits| bits.iter().enumerate().fold(0, |byte, (at, &bit)| byte | (bit as u8) << (7 - at)))
        .collect()
}

#[test]
fn parity_is_that_of_a_division_bit_by_bit() {
    let mut random = Streams::new(1).stream("parity");
    // The codes have one to ten words, full and partial words, and odd lengths.
    let codes = [
        (13, 0x201b, 1, 1, 0),
        (13, 0x201b, 4, 17, 0),
        (13, 0x201b, 5, 255, 4),
        (13, 0x201b, 9, 256, 0),
        (14, 0x402b, 10, 264, 3),
        (14, 0x402b, 18, 100, 0),
        (15, 0x8003, 4, 2048, 0),
        (15, 0x8003, 12, 2048, 4),
        (15, 0x8003, 25, 333, 0),
        (15, 0x8003, 34, 2048, 0),
        (16, 0x1_002d, 4, 300, 0),
        (16, 0x1_002d, 32, 515, 0),
        (16, 0x1_002d, 40, 4096, 4),
    ];
    for (m, polynomial, t, data_bytes, head_bytes) in codes {
        let code = Code::new(m, t, data_bytes, head_bytes).unwrap();
        let [data, spare] = codeword(&code, data_bytes, &mut random);
        let message = [&data, &spare[..head_bytes]].concat();
        let expected = parity(&message, &generator(polynomial, m, t));
        assert_eq!(spare[head_bytes..], expected, "m = {m}, t = {t}, {data_bytes} B");
    }
}

/// The bits of a short codeword as a number.
fn number([data, spare]: &[Vec<u8>; 2], bits: u32) -> u32 {
    let bytes = data.iter().chain(spare).fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    (bytes >> (8 * (data.len() + spare.len()) as u32 - bits)) as u32
}

/// Compares the decoder with a decoder that tries every codeword, for all patterns of at most `t + 2` bit
/// errors.
#[test]
fn tiny_codes_decode_to_the_one_codeword_in_reach() {
    let mut random = Streams::new(1).stream("tiny");
    for (m, polynomial, t) in [(5, 0x25, 1), (5, 0x25, 2), (5, 0x25, 3), (6, 0x43, 2)] {
        let code = Code::over(Field::of(m, polynomial), t, 1, 0);
        let bits = code.bits();
        let all: Vec<u32> = (0..=255)
            .map(|byte| {
                let mut spare = vec![0; code.spare_bytes()];
                code.encode(&[byte], &mut spare).unwrap();
                number(&[vec![byte], spare], bits)
            })
            .collect();
        let sent = codeword(&code, 1, &mut random);
        for pattern in (0u32..1 << bits).filter(|pattern| pattern.count_ones() <= t + 2) {
            let places: Vec<usize> = (0..bits as usize).filter(|place| pattern >> place & 1 == 1).collect();
            let read = flipped(&sent, &places);
            let mut decoded = read.clone();
            let [data, spare] = &mut decoded;
            let verdict = code.decode(data, spare).unwrap();
            let read_number = number(&read, bits);
            let nearest = all.iter().find(|&&word| (word ^ read_number).count_ones() <= t);
            let (expected, word) = match nearest {
                Some(&word) if word == read_number => (Verdict::Clean, word),
                Some(&word) => (Verdict::Corrected((word ^ read_number).count_ones()), word),
                None => (Verdict::Uncorrectable, read_number),
            };
            assert_eq!((verdict, number(&decoded, bits)), (expected, word), "m = {m}, t = {t}, {places:?}");
        }
    }
}
