//! Tests of field arithmetic and roots of polynomials.

use super::super::STRENGTH_MAX;
use super::super::closed::Closed;
use super::super::field::Field;
use super::super::roots::roots;
use nacre_kernel::{Random, Streams};

/// Coefficients of the monic polynomial with these roots, lowest first, without the highest coefficient.
fn with_roots(field: &Field, roots: &[u16]) -> Vec<u16> {
    let mut product = vec![1];
    for &root in roots {
        let mut next = vec![0; product.len() + 1];
        for (at, &coefficient) in product.iter().enumerate() {
            next[at + 1] ^= coefficient;
            next[at] ^= field.multiply(coefficient, root);
        }
        product = next;
    }
    product.pop();
    product
}

fn value(field: &Field, low: &[u16], x: u16) -> u16 {
    low.iter().rev().fold(1, |value, &coefficient| field.multiply(value, x) ^ coefficient)
}

fn distinct(field: &Field, count: usize, random: &mut Random) -> Vec<u16> {
    let mut elements = Vec::new();
    while elements.len() < count {
        let element = 1 + random.below(u64::from(field.order())) as u16;
        if !elements.contains(&element) {
            elements.push(element);
        }
    }
    elements
}

/// Finds the roots of all polynomials of degree four or less over small fields of even and odd degree.
/// Compares them with the roots that are found by trying every element.
#[test]
fn small_polynomials_have_all_their_roots_found_or_too_few() {
    for (m, polynomial, highest) in [(4, 0x13, 4), (5, 0x25, 3)] {
        let field = Field::of(m, polynomial);
        let closed = Closed::new(&field);
        for degree in 1..=highest {
            for number in 0u32..1 << (m * degree) {
                let low: Vec<u16> =
                    (0..degree).map(|at| (number >> (m * at)) as u16 & field.order() as u16).collect();
                // Zero is not a position in a codeword: the polynomial of the error positions has a nonzero
                // constant term.
                if low[0] == 0 {
                    continue;
                }
                let expected: Vec<u16> =
                    (0..=field.order() as u16).filter(|&x| value(&field, &low, x) == 0).collect();
                let mut found = Vec::new();
                let all = closed.roots(&field, &low, &mut found);
                assert_eq!(all, expected.len() == degree as usize, "{field:?}: {low:?}");
                if all {
                    found.sort_unstable();
                    assert_eq!(found, expected, "{field:?}: {low:?}");
                }
            }
        }
    }
}

#[test]
fn all_roots_of_a_long_polynomial_are_found() {
    let mut random = Streams::new(1).stream("roots");
    for m in 13..=16 {
        let field = Field::new(m).unwrap();
        let closed = Closed::new(&field);
        for degree in 1..=STRENGTH_MAX {
            let mut expected = distinct(&field, degree, &mut random);
            let mut found = Vec::new();
            assert!(roots(&field, &closed, &with_roots(&field, &expected), &mut found));
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "m = {m}");
        }
    }
}

#[test]
fn a_double_root_or_a_part_without_roots_is_noticed() {
    let mut random = Streams::new(1).stream("no roots");
    let field = Field::new(15).unwrap();
    let closed = Closed::new(&field);
    for degree in 2..=STRENGTH_MAX {
        let mut repeated = distinct(&field, degree, &mut random);
        repeated[degree - 1] = repeated[0];
        assert!(!roots(&field, &closed, &with_roots(&field, &repeated), &mut Vec::new()), "degree {degree}");
        // `x^2 + x + 1` has roots only in fields of even degree.
        let rest = with_roots(&field, &distinct(&field, degree - 2, &mut random));
        let mut product = vec![0; degree + 1];
        for (at, &coefficient) in rest.iter().chain(&[1]).enumerate() {
            (0..=2).for_each(|power| product[at + power] ^= coefficient);
        }
        product.pop();
        assert!(!roots(&field, &closed, &product, &mut Vec::new()), "degree {degree}");
    }
}

#[test]
fn a_minimal_polynomial_has_its_power_as_a_root() {
    let field = Field::new(13).unwrap();
    for power in (1..80).step_by(2) {
        let polynomial = field.minimal(power);
        let at_root = (0..=13).filter(|bit| polynomial >> bit & 1 == 1);
        let sum = at_root.fold(0, |sum, bit| sum ^ field.exp(power * bit % field.order()));
        assert_eq!((sum, polynomial.ilog2()), (0, 13), "a^{power}");
    }
    assert_eq!(field.minimal(1), 0x201b);
}
