//! Finds all roots of a polynomial that has distinct roots in the field, with Berlekamp's trace algorithm.
//!
//! The trace of `b x`, which is `b x + (b x)^2 + (b x)^4 + ...`, is zero for half of the elements `x` and one
//! for the others. The greatest common divisor of a polynomial and the trace has the roots with trace zero,
//! on average half of all roots. Another `b` splits the roots differently. Factors of degree [`CLOSED`] or
//! less are solved in closed form.

use super::STRENGTH_MAX;
use super::closed::{CLOSED, Closed};
use super::field::Field;

/// Coefficients of a polynomial, lowest first.
type Row = [u16; STRENGTH_MAX];
/// Logarithms of coefficients.
type Logs = [u32; STRENGTH_MAX];

/// A monic polynomial. `low` has all coefficients except the highest.
#[derive(Clone, Copy)]
struct Monic {
    low: Row,
    degree: usize,
}

/// Appends the roots of the monic polynomial whose other coefficients are `low`, lowest first. Returns false
/// if the polynomial has fewer roots than its degree.
pub(super) fn roots(field: &Field, closed: &Closed, low: &[u16], into: &mut Vec<u16>) -> bool {
    if low.len() <= CLOSED {
        return closed.roots(field, low, into);
    }
    let whole = Monic::new(low);
    let Some(powers) = Powers::modulo(field, &whole) else { return false };
    let mut parts = vec![whole];
    for bit in 0..field.m() {
        if parts.is_empty() {
            return true;
        }
        let trace = powers.trace(field, bit);
        for part in std::mem::take(&mut parts) {
            for half in part.divided(field, &trace[..whole.degree]).into_iter().flatten() {
                if half.degree > CLOSED {
                    parts.push(half);
                } else if !closed.roots(field, &half.low[..half.degree], into) {
                    return false;
                }
            }
        }
    }
    parts.is_empty()
}

/// The polynomials `x^(2^i)` modulo a polynomial.
struct Powers {
    degree: usize,
    /// Logarithms of the coefficients of each row, concatenated.
    logs: Vec<u32>,
}

impl Powers {
    /// Computes the powers. Returns `None` if the polynomial has fewer roots than its degree. A polynomial
    /// with as many roots as its degree divides `x^(2^m) - x`.
    fn modulo(field: &Field, polynomial: &Monic) -> Option<Powers> {
        let degree = polynomial.degree;
        let even = even_powers(field, polynomial);
        let first_even = degree.div_ceil(2);
        let mut logs = Vec::with_capacity(field.m() as usize * degree);
        let mut power = [0; STRENGTH_MAX];
        power[1] = 1;
        for _ in 0..field.m() {
            let mut square = [0; STRENGTH_MAX];
            let mut factors = [0; STRENGTH_MAX];
            for (at, &coefficient) in power[..degree].iter().enumerate() {
                let log = field.log(coefficient);
                logs.push(log);
                if at < first_even {
                    square[2 * at] = field.square(coefficient);
                } else {
                    factors[at - first_even] = if coefficient == 0 { log } else { field.doubled(log) };
                }
            }
            add_rows(field, &mut square[..degree], &factors[..degree - first_even], &even);
            power = square;
        }
        let is_x = power[..degree].iter().enumerate().all(|(at, &c)| c == u16::from(at == 1));
        is_x.then_some(Powers { degree, logs })
    }

    /// The trace of `a^bit x`.
    fn trace(&self, field: &Field, bit: u32) -> Row {
        let mut factors = [bit; 16];
        (1..16).for_each(|power| factors[power] = field.doubled(factors[power - 1]));
        let mut trace = [0; STRENGTH_MAX];
        add_rows(field, &mut trace[..self.degree], &factors[..field.m() as usize], &self.logs);
        trace
    }
}

/// Logarithms of the coefficients of `x^i` modulo a polynomial, one row after the other. The rows start at
/// the degree of the polynomial. Only rows with even `i` are stored, because the powers are only used to
/// compute squares.
fn even_powers(field: &Field, polynomial: &Monic) -> Vec<u32> {
    let degree = polynomial.degree;
    let low = logs(field, &polynomial.low[..degree]);
    let mut power = polynomial.low;
    let mut even = Vec::with_capacity(degree * degree / 2);
    for exponent in degree..=2 * (degree - 1) {
        if exponent % 2 == 0 {
            even.extend(power[..degree].iter().map(|&coefficient| field.log(coefficient)));
        }
        let highest = power[degree - 1];
        let factor = field.log(highest);
        for at in (1..degree).rev() {
            power[at] = power[at - 1] ^ field.exp(factor + low[at]);
        }
        power[0] = field.exp(factor + low[0]);
    }
    even
}

impl Monic {
    fn new(low: &[u16]) -> Monic {
        let mut polynomial = Monic { low: [0; STRENGTH_MAX], degree: low.len() };
        polynomial.low[..low.len()].copy_from_slice(low);
        polynomial
    }

    /// The greatest common divisor with `other`, and the quotient. If the divisor is 1 or the polynomial
    /// itself, returns only the polynomial.
    fn divided(&self, field: &Field, other: &[u16]) -> [Option<Monic>; 2] {
        let shared = self.shared(field, other);
        if shared.degree == 0 || shared.degree == self.degree {
            return [Some(*self), None];
        }
        let mut rest = [0; 2 * STRENGTH_MAX];
        rest[..STRENGTH_MAX].copy_from_slice(&self.low);
        rest[self.degree] = 1;
        reduce(field, &mut rest[..=self.degree], &shared);
        let quotient = Monic::new(&rest[shared.degree..self.degree]);
        [Some(shared), Some(quotient)]
    }

    /// The greatest common divisor with `other`, computed with Euclid's algorithm.
    fn shared(&self, field: &Field, other: &[u16]) -> Monic {
        let mut divisor = *self;
        let mut rest = [0; STRENGTH_MAX + 1];
        rest[..other.len()].copy_from_slice(other);
        let mut length = other.len();
        loop {
            reduce(field, &mut rest[..length], &divisor);
            let Some(degree) = rest[..length.min(divisor.degree)].iter().rposition(|&c| c != 0) else {
                return divisor;
            };
            let scale = field.order() - field.log(rest[degree]);
            let mut next = Monic { low: [0; STRENGTH_MAX], degree };
            for (into, &from) in next.low[..degree].iter_mut().zip(&rest) {
                *into = field.exp(scale + field.log(from));
            }
            length = divisor.degree + 1;
            rest[..STRENGTH_MAX].copy_from_slice(&divisor.low);
            rest[divisor.degree] = 1;
            divisor = next;
        }
    }
}

/// Divides `polynomial` by `divisor` in place. The remainder is stored below the divisor's degree, and the
/// quotient above it.
fn reduce(field: &Field, polynomial: &mut [u16], divisor: &Monic) {
    let degree = divisor.degree;
    let low = logs(field, &divisor.low[..degree]);
    for top in (degree..polynomial.len()).rev() {
        let quotient = polynomial[top];
        if quotient != 0 {
            add_times(field, &mut polynomial[top - degree..top], field.log(quotient), &low[..degree]);
        }
    }
}

#[inline]
fn logs(field: &Field, row: &[u16]) -> Logs {
    let mut logs = [0; STRENGTH_MAX];
    for (log, &coefficient) in logs.iter_mut().zip(row) {
        *log = field.log(coefficient);
    }
    logs
}

/// Adds `row`, multiplied by the element with the logarithm `factor`, to `sum`.
#[inline]
fn add_times(field: &Field, sum: &mut [u16], factor: u32, row: &[u32]) {
    for (sum, &log) in sum.iter_mut().zip(row) {
        *sum ^= field.exp(factor + log);
    }
}

/// Adds each of the concatenated `rows` to `sum`, multiplied by the element with the corresponding logarithm
/// in `factors`.
#[inline]
fn add_rows(field: &Field, sum: &mut [u16], factors: &[u32], rows: &[u32]) {
    let length = sum.len();
    let (pairs, last) = factors.as_chunks::<2>();
    let (paired, rest) = rows.split_at(2 * length * pairs.len());
    for (&[one, other], rows) in pairs.iter().zip(paired.chunks_exact(2 * length)) {
        let (first, second) = rows.split_at(length);
        for ((sum, &first), &second) in sum.iter_mut().zip(first).zip(second) {
            *sum ^= field.exp(one + first) ^ field.exp(other + second);
        }
    }
    if let [factor] = *last {
        add_times(field, sum, factor, rest);
    }
}
