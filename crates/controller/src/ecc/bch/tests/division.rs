//! Compares remainders of messages with bit-by-bit division.

use super::super::STRENGTH_MAX;
use super::super::field::Field;
use super::super::polynomial::{Modulus, WIDE_WORDS, Wide};
use super::super::remainder::Division;
use nacre_kernel::{Random, Streams};

/// The first `t` minimal polynomials of GF(2^`m`).
fn minimal(m: u32, t: u32) -> Vec<u32> {
    let field = Field::new(m).unwrap();
    (0..t).map(|number| field.minimal(2 * number + 1)).collect()
}

/// Remainder of `message * x^r`, computed with a shift register.
fn divided(message: &[u8], generator: &Modulus) -> Wide {
    let bits = message.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    bits.fold([0; WIDE_WORDS], |mut left, bit| {
        left[0] ^= u64::from(bit) << 63;
        generator.times_x(&left)
    })
}

fn bytes(count: usize, random: &mut Random) -> Vec<u8> {
    (0..count).map(|_| random.bits() as u8).collect()
}

#[test]
fn every_code_divides_as_a_register_does() {
    let mut random = Streams::new(1).stream("division");
    for m in 13..=16 {
        let all = minimal(m, STRENGTH_MAX as u32);
        for t in 1..=STRENGTH_MAX {
            let (division, generator) = (Division::new(&all[..t], m), Modulus::product(&all[..t]));
            for (data_bytes, head_bytes) in [(1, 0), (7, 4), (16, 0), (150, 4)] {
                let (data, head) = (bytes(data_bytes, &mut random), bytes(head_bytes, &mut random));
                let expected = divided(&[&data[..], &head].concat(), &generator);
                assert_eq!(division.remainder(&data, &head), expected, "m = {m}, t = {t}, {data_bytes} B");
            }
        }
    }
}

/// Tests all lengths around the block sizes, because the checksum library processes long data in blocks.
#[test]
fn every_length_is_divided_as_by_a_register() {
    let mut random = Streams::new(1).stream("lengths");
    let all = minimal(15, 12);
    let (division, generator) = (Division::new(&all, 15), Modulus::product(&all));
    for length in (0..600).chain([1023, 1024, 1025, 2047, 2048, 2049]) {
        let data = bytes(length, &mut random);
        assert_eq!(division.remainder(&data, &[]), divided(&data, &generator), "{length} B");
    }
}

#[test]
fn every_bit_of_a_page_leaves_what_its_power_leaves() {
    let all = minimal(15, 12);
    let (division, generator) = (Division::new(&all, 15), Modulus::product(&all));
    let mut data = vec![0; 2048];
    let mut power = divided(&[1], &generator);
    for place in 0..8 * data.len() {
        let (byte, bit) = (data.len() - 1 - place / 8, 1 << (place % 8));
        data[byte] = bit;
        assert_eq!(division.remainder(&data, &[]), power, "x^{place}");
        data[byte] = 0;
        power = generator.times_x(&power);
    }
}

#[test]
fn an_inverse_multiplies_to_one() {
    for m in 13..=16 {
        let all = minimal(m, 8);
        let modulus = Modulus::product(&all[..4]);
        for other in &all[4..] {
            let other = modulus.times_factor(&modulus.one(), *other);
            assert_eq!(modulus.times(&other, &modulus.inverse(&other, m)), modulus.one(), "m = {m}");
        }
    }
}
