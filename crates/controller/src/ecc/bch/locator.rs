//! Computes the error locator polynomial from syndromes with the Berlekamp-Massey algorithm, which over GF(2)
//! needs only every second step.

use super::STRENGTH_MAX;
use super::field::Field;

/// Coefficients of a polynomial, lowest first.
pub(super) type Coefficients = [u16; STRENGTH_MAX + 1];

/// Returns the monic polynomial whose roots are the locators `X` of the errors: its coefficients except the
/// highest coefficient, and the degree. Returns `None` if there are more than `t` errors. `syndromes` has `2
/// t` elements, and `syndromes[i]` is the syndrome of `a^(i + 1)`.
pub(super) fn locator(field: &Field, syndromes: &[u16]) -> Option<(Coefficients, usize)> {
    let t = syndromes.len() / 2;
    let (mut now, mut before) = ([0; 2 * STRENGTH_MAX + 2], [0; 2 * STRENGTH_MAX + 2]);
    (now[0], before[0]) = (1, 1);
    let (mut degree, mut degree_before) = (0, 0);
    let mut shift = 1;
    let mut discrepancy_before = 1;
    let mut length = 0;
    for step in 0..t {
        let at = 2 * step;
        let terms = now[1..=degree.min(at)].iter().zip(syndromes[..at].iter().rev());
        let discrepancy = terms.fold(syndromes[at], |sum, (&c, &s)| sum ^ field.multiply(c, s));
        if discrepancy != 0 {
            let kept = (now, degree);
            let factor = field.log(field.divide(discrepancy, discrepancy_before));
            for (into, &from) in now[shift..].iter_mut().zip(&before[..=degree_before]) {
                *into ^= field.exp(factor + field.log(from));
            }
            degree = degree.max(degree_before + shift);
            if 2 * length <= at {
                length = at + 1 - length;
                (before, degree_before) = kept;
                discrepancy_before = discrepancy;
                shift = 0;
            }
            if degree > t {
                return None;
            }
        }
        shift += 2;
    }
    // If the highest coefficient canceled, or if the register is longer than its polynomial, no positions are
    // valid.
    if degree != length || now[degree] == 0 {
        return None;
    }
    let mut reversed = [0; STRENGTH_MAX + 1];
    for (into, &from) in reversed.iter_mut().zip(now[1..=degree].iter().rev()) {
        *into = from;
    }
    Some((reversed, degree))
}
