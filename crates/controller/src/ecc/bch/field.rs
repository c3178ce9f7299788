//! The field GF(2^m), implemented with tables of logarithms.

/// Primitive polynomials for the degrees of page codes, the smallest for each degree. Another program
/// computes the same parity bytes only if it uses the same polynomials.
const PRIMITIVE: [(u32, u32); 4] = [(13, 0x201b), (14, 0x402b), (15, 0x8003), (16, 0x1_002d)];

/// The field with 2^m elements. The bits of an element are the coefficients of a polynomial, and `a` is the
/// class of `x`.
pub(super) struct Field {
    m: u32,
    polynomial: u32,
    /// `exp[i]` is `a^i`. The powers are stored twice so that the sum of two logarithms is an index, and are
    /// followed by zeros for the logarithm of zero.
    exp: Box<[u16]>,
    /// Logarithm of each element. The logarithm of zero is twice the order.
    log: Box<[u32]>,
}

impl Field {
    /// The field with 2^m elements and the primitive polynomial from [`PRIMITIVE`]. `None` if the table has
    /// no polynomial of degree `m`.
    pub(super) fn new(m: u32) -> Option<Field> {
        let &(_, polynomial) = PRIMITIVE.iter().find(|&&(degree, _)| degree == m)?;
        Some(Field::of(m, polynomial))
    }

    /// The field with a primitive `polynomial` of degree `m`.
    pub(super) fn of(m: u32, polynomial: u32) -> Field {
        assert!(m <= 16 && polynomial >> m == 1, "the polynomial is of degree m");
        let order = (1usize << m) - 1;
        let mut exp = vec![0u16; 4 * order + 1].into_boxed_slice();
        let mut log = vec![2 * order as u32; order + 1].into_boxed_slice();
        let mut element = 1u32;
        for power in 0..order {
            exp[power] = element as u16;
            exp[power + order] = element as u16;
            log[element as usize] = power as u32;
            element <<= 1;
            if element >> m == 1 {
                element ^= polynomial;
            }
        }
        assert!(element == 1 && log[1] == 0, "the polynomial is primitive");
        Field { m, polynomial, exp, log }
    }

    /// Degree of the field over GF(2).
    #[inline]
    pub(super) fn m(&self) -> u32 {
        self.m
    }

    /// Number of nonzero elements.
    #[inline]
    pub(super) fn order(&self) -> u32 {
        (1 << self.m) - 1
    }

    /// `a^power`, for powers below twice the order.
    #[inline]
    pub(super) fn exp(&self, power: u32) -> u16 {
        self.exp[power as usize]
    }

    /// The logarithm of `element`.
    #[inline]
    pub(super) fn log(&self, element: u16) -> u32 {
        self.log[usize::from(element)]
    }

    /// The logarithm of the square of a nonzero element with the logarithm `log`.
    #[inline]
    pub(super) fn doubled(&self, log: u32) -> u32 {
        let twice = 2 * log;
        if twice >= self.order() { twice - self.order() } else { twice }
    }

    /// `left * right`.
    #[inline]
    pub(super) fn multiply(&self, left: u16, right: u16) -> u16 {
        self.exp(self.log(left) + self.log(right))
    }

    /// `left / right`, for a nonzero `right`.
    #[inline]
    pub(super) fn divide(&self, left: u16, right: u16) -> u16 {
        self.exp(self.log(left) + self.order() - self.log(right))
    }

    /// `element * element`.
    #[inline]
    pub(super) fn square(&self, element: u16) -> u16 {
        self.multiply(element, element)
    }

    /// The square root of `element`.
    #[inline]
    pub(super) fn root(&self, element: u16) -> u16 {
        if element == 0 {
            return 0;
        }
        let log = self.log(element);
        // The order is odd, so either `log` or `log` plus the order is even.
        self.exp(if log.is_multiple_of(2) { log / 2 } else { (log + self.order()) / 2 })
    }

    /// The minimal polynomial of `a^power` over GF(2), highest bit first.
    pub(super) fn minimal(&self, power: u32) -> u32 {
        let mut product = vec![1u16];
        let mut conjugate = power % self.order();
        loop {
            let root = self.exp(conjugate);
            let mut next = vec![0; product.len() + 1];
            for (at, &coefficient) in product.iter().enumerate() {
                next[at + 1] ^= coefficient;
                next[at] ^= self.multiply(coefficient, root);
            }
            product = next;
            conjugate = conjugate * 2 % self.order();
            if conjugate == power % self.order() {
                break;
            }
        }
        let bits = product.iter().enumerate().map(|(at, &coefficient)| u32::from(coefficient) << at);
        debug_assert!(product.iter().all(|&coefficient| coefficient <= 1), "it is over GF(2)");
        bits.sum()
    }
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GF(2^{}) by {:#x}", self.m, self.polynomial)
    }
}
