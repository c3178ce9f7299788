//! Roots of polynomials of degree four or less, computed with tables and a few operations.
//!
//! `y^2 + y` is linear over GF(2), so a solution of `y^2 + y = c` is a sum of terms, one for each bit of `c`.
//! Every cubic reduces to `y^3 + y = d`, which has a table indexed by `d`. Every quartic reduces to a cubic
//! and quadratics. Only polynomials with as many roots as their degree are solved.

use super::field::Field;

/// Maximum number of roots found in closed form.
pub(super) const CLOSED: usize = 4;

/// A solver for polynomials of degree up to [`CLOSED`].
pub(super) struct Closed {
    /// Terms of a solution of `y^2 + y = c` for the lower and the upper byte of `c`, if there is a solution.
    halves: [[u16; 256]; 2],
    /// A solution of `y^3 + y = d`, indexed by `d`, if the equation has three solutions, or zero otherwise.
    cubes: Box<[u16]>,
}

impl Closed {
    /// Tables for polynomials over `field`.
    pub(super) fn new(field: &Field) -> Closed {
        let elements = field.order() as usize + 1;
        let mut solutions = vec![[0u16; 3]; elements];
        let mut found = vec![0u8; elements];
        // One solution of `y^2 + y = c`, indexed by `c`. Only even `y` are stored, since the other solution
        // is `y + 1`.
        let mut squares = vec![None; elements];
        for y in 0..=field.order() as u16 {
            let square = field.square(y);
            if y % 2 == 0 {
                squares[usize::from(square ^ y)] = Some(y);
            }
            let d = usize::from(field.multiply(square, y) ^ y);
            solutions[d][usize::from(found[d])] = y;
            found[d] += 1;
        }
        let cubes = solutions
            .iter()
            .zip(&found)
            .map(|(three, &found)| if found == 3 { three[0].max(three[1]) } else { 0 });
        Closed { halves: halves(field, &squares), cubes: cubes.collect() }
    }

    /// Appends the roots of the monic polynomial whose other coefficients are `low`, lowest first. Returns
    /// false if the polynomial has fewer roots than its degree.
    #[inline]
    pub(super) fn roots(&self, field: &Field, low: &[u16], into: &mut Vec<u16>) -> bool {
        let before = into.len();
        match *low {
            [c] => into.push(c),
            [c, b] => into.extend(self.of_square(field, b, c).into_iter().flatten()),
            [c, b, a] => into.extend(self.of_cube(field, a, b, c).into_iter().flatten()),
            [d, c, b, a] => into.extend(self.of_fourth(field, [a, b, c, d]).into_iter().flatten()),
            _ => unreachable!("a degree between one and four"),
        }
        into.len() == before + low.len()
    }

    /// Roots of `x^2 + b x + c`, or `None` if there are fewer than two. The substitution `x = b y` gives `y^2
    /// + y = c / b^2`.
    #[inline]
    fn of_square(&self, field: &Field, b: u16, c: u16) -> Option<[u16; 2]> {
        if b == 0 {
            return None;
        }
        let c = field.divide(c, field.square(b));
        let y = self.halves[0][usize::from(c as u8)] ^ self.halves[1][usize::from(c >> 8)];
        let x = field.multiply(b, y);
        (field.square(y) ^ y == c).then_some([x, x ^ b])
    }

    /// Roots of `x^3 + a x^2 + b x + c`, or `None` if there are fewer than three. The substitution `x = z +
    /// a` gives `z^3 + p z + q`.
    #[inline]
    fn of_cube(&self, field: &Field, a: u16, b: u16, c: u16) -> Option<[u16; 3]> {
        let (p, q) = (field.square(a) ^ b, field.multiply(a, b) ^ c);
        let z = self.of_depressed(field, p, q)?;
        let [one, other] = self.of_square(field, z, field.square(z) ^ p)?;
        Some([z ^ a, one ^ a, other ^ a])
    }

    /// A root of `z^3 + p z + q`, or `None` unless the polynomial has three nonzero roots. The substitution
    /// `z = y sqrt(p)` gives `y^3 + y = d`.
    #[inline]
    fn of_depressed(&self, field: &Field, p: u16, q: u16) -> Option<u16> {
        if q == 0 {
            // Zero is a root, and the other two roots are equal.
            return None;
        }
        if p == 0 {
            let log = field.log(q);
            return (field.order().is_multiple_of(3) && log.is_multiple_of(3)).then(|| field.exp(log / 3));
        }
        let scale = field.root(p);
        let d = field.divide(q, field.multiply(p, scale));
        let y = self.cubes[usize::from(d)];
        (y != 0).then(|| field.multiply(y, scale))
    }

    /// Roots of `x^4 + a x^3 + b x^2 + c x + d`, or `None` if there are fewer than four. The polynomial is
    /// shifted by `e`, at which its derivative `a e^2 + c` is zero. The shifted polynomial has no linear
    /// term, so its reverse has no cubic term.
    fn of_fourth(&self, field: &Field, [a, b, c, d]: [u16; 4]) -> Option<[u16; 4]> {
        if a == 0 {
            return self.of_affine(field, b, c, d);
        }
        let e = field.root(field.divide(c, a));
        let square = field.multiply(a, e) ^ b;
        let constant = [a, b, c, d].into_iter().fold(1, |value, next| field.multiply(value, e) ^ next);
        if constant == 0 {
            // The polynomial has a double root.
            return None;
        }
        let (square, linear) = (field.divide(square, constant), field.divide(a, constant));
        let roots = self.of_affine(field, square, linear, field.divide(1, constant))?;
        Some(roots.map(|root| field.divide(1, root) ^ e))
    }

    /// Roots of `x^4 + a x^2 + b x + c`, or `None` if there are fewer than four. If `k` is a root of `z^3 + a
    /// z + b`, the substitution `u = x^2 + k x` gives `u^2 + (a + k^2) u + c`.
    #[inline]
    fn of_affine(&self, field: &Field, a: u16, b: u16, c: u16) -> Option<[u16; 4]> {
        let k = self.of_depressed(field, a, b)?;
        let [u, v] = self.of_square(field, a ^ field.square(k), c)?;
        let ([one, two], [three, four]) = (self.of_square(field, k, u)?, self.of_square(field, k, v)?);
        Some([one, two, three, four])
    }
}

/// Tables of solutions for each byte of `c`. The sum of two elements without a solution has a solution. Each
/// element without a solution is therefore assigned the solution of its sum with the first such element.
fn halves(field: &Field, solutions: &[Option<u16>]) -> [[u16; 256]; 2] {
    let without = (0..field.m()).map(|bit| 1usize << bit).find(|&c| solutions[c].is_none());
    let part = |bit: u32| {
        let c = 1usize << bit;
        solutions[c].or_else(|| solutions[c ^ without?]).expect("half of the elements have a solution")
    };
    let mut halves = [[0; 256]; 2];
    for bit in 0..field.m() {
        let (row, place) = (&mut halves[(bit / 8) as usize], 1usize << (bit % 8));
        for value in place..2 * place {
            row[value] = row[value - place] ^ part(bit);
        }
    }
    halves
}
