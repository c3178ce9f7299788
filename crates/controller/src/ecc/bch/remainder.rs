//! Remainder of a message divided by the generator: the only work that depends on every byte of a page.
//!
//! The generator is a product of minimal polynomials. Instead of by the generator, the message is divided by
//! products `M` of several minimal polynomials. Each product has at most 64 bits. The remainder of a message
//! times `x^64`, divided by a polynomial of degree 64, is a CRC. `M` is multiplied by a power `x^k` to reach
//! degree 64. The upper bits of the CRC are then the remainder of the message times `x^(64 - k)`, divided by
//! `M`. `crc-fast` computes the CRC with the processor's carry-less multiplication or with tables. By the
//! Chinese remainder theorem, the remainders for all products determine the remainder for the generator
//! through a linear map.

use super::polynomial::{LinearMap, Modulus, WIDE_WORDS, Wide};
use crc_fast::{CrcParams, Digest};

/// Number of bits per word.
const WORD: u32 = 64;

/// Division by a generator.
pub(super) struct Division {
    /// CRC parameters of each product.
    checks: Vec<CrcParams>,
    /// Combines the checksums into the remainder modulo the generator. `None` if there is only one checksum.
    together: Option<LinearMap>,
}

impl Division {
    /// Groups the polynomials in `minimal` into products. These polynomials are irreducible and different,
    /// and have degree `m`.
    pub(super) fn new(minimal: &[u32], m: u32) -> Division {
        let products = minimal.chunks((WORD / m) as usize);
        let moduli: Vec<Modulus> = products.clone().map(Modulus::product).collect();
        let checks = moduli.iter().map(|modulus| {
            // The highest of 64 coefficients comes first, as in the polynomial of a CRC.
            CrcParams::new("BCH", WORD as u8, modulus.low()[0], 0, false, 0, 0)
        });
        let checks: Vec<CrcParams> = checks.collect();
        let together = (checks.len() > 1).then(|| {
            let generator = Modulus::product(minimal);
            let images = moduli.iter().zip(products).flat_map(|(modulus, product)| {
                let others: Vec<u32> =
                    minimal.iter().copied().filter(|polynomial| !product.contains(polynomial)).collect();
                images(modulus, &others, m, &generator)
            });
            LinearMap::new(&images.collect::<Vec<_>>(), generator.degree().div_ceil(WORD) as usize)
        });
        Division { checks, together }
    }

    /// Remainder of `message * x^r`. The message consists of `data` and `head`, and `r` is the degree of the
    /// generator.
    pub(super) fn remainder(&self, data: &[u8], head: &[u8]) -> Wide {
        let mut left = [0; WIDE_WORDS];
        for (left, &check) in left.iter_mut().zip(&self.checks) {
            let mut digest = Digest::new_with_params(check);
            digest.update(data);
            digest.update(head);
            *left = digest.finalize();
        }
        match &self.together {
            None => left,
            Some(together) => together.of(&left[..self.checks.len()]),
        }
    }
}

/// Images of the bits of the checksum for division by `modulus`. Each image is zero modulo the `others`.
/// Modulo `modulus`, it is the bit times `x^(r - d)`, where `r` is the degree of the generator and `d` the
/// degree of `modulus`.
fn images(modulus: &Modulus, others: &[u32], m: u32, generator: &Modulus) -> [Wide; WORD as usize] {
    let product = |modulus: &Modulus| {
        others.iter().fold(modulus.one(), |product, &other| modulus.times_factor(&product, other))
    };
    let shift = generator.degree() - modulus.degree();
    let scale = modulus.times(&modulus.inverse(&product(modulus), m), &modulus.power(shift));
    // `scale` times the others, as a polynomial.
    let others = product(generator);
    let mut image = (0..modulus.degree()).fold([0; WIDE_WORDS], |image, at| {
        let image = generator.times_x(&image);
        if scale[0] << at >> (WORD - 1) == 1 {
            std::array::from_fn(|at| image[at] ^ others[at])
        } else {
            image
        }
    });
    let mut images = [[0; WIDE_WORDS]; WORD as usize];
    for into in images[..modulus.degree() as usize].iter_mut().rev() {
        *into = image;
        image = generator.times_x(&image);
    }
    images
}
