//! Tests of the failure probability of pages.

use super::*;
use crate::workbench::ecc;

/// The upper tail, computed as a sum of all terms with exact binomial coefficients.
fn slow_tail(trials: u64, p: f64, most: u64) -> f64 {
    let mut term = libm::pow(1.0 - p, trials as f64);
    let mut below = 0.0;
    for k in 0..=most {
        below += term;
        term *= (trials - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
    }
    1.0 - below
}

#[test]
fn a_binomial_tail_is_the_sum_of_its_terms() {
    for (trials, p, most) in
        [(10, 0.5, 3), (100, 0.1, 12), (100, 0.1, 5), (16_444, 1e-4, 4), (16_444, 1e-4, 0)]
    {
        let (tail, slow) = (binomial_tail(trials, p, most), slow_tail(trials, p, most));
        assert!((tail / slow - 1.0).abs() < 1e-9, "{trials}, {p}, {most}: {tail} and {slow}");
    }
    // The probability is C(4, 4) / 16.
    assert!((binomial_tail(4, 0.5, 3) - 1.0 / 16.0).abs() < 1e-15);
}

#[test]
fn a_binomial_tail_keeps_its_precision_where_it_is_tiny() {
    // Only the first term matters: C(1000, 5) 1e-50.
    let first = 1000.0 * 999.0 * 998.0 * 997.0 * 996.0 / 120.0 * 1e-50;
    assert!((binomial_tail(1000, 1e-10, 4) / first - 1.0).abs() < 1e-6);
}

#[test]
fn the_ends_of_a_binomial_tail_are_exact() {
    assert_eq!(binomial_tail(10, 0.0, 0), 0.0);
    assert_eq!(binomial_tail(10, 1.0, 9), 1.0);
    assert_eq!(binomial_tail(10, 0.3, 10), 0.0);
    assert_eq!(binomial_tail(1_000_000, 0.5, 10), 1.0);
}

#[test]
fn a_stronger_code_fails_more_rarely() {
    let failures = ["kind = \"none\"", "kind = \"bch\"\nt = 1", "kind = \"bch\"\nt = 12", "kind = \"ldpc\""]
        .map(|toml| ecc(toml, 2048).unwrap().page_failure(1e-4));
    assert!(failures.is_sorted_by(|weaker, stronger| weaker > stronger), "{failures:?}");
}
