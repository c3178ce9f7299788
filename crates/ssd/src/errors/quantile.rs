//! Computation of the number of bit errors of a codeword as a quantile of a Poisson distribution, without
//! stored state. The codeword and the erase count of its superblock determine the quantile, so bit errors
//! persist and increase with the mean.

/// Mean above which a normal distribution is accurate enough.
const NORMAL: f64 = 700.0;

/// Returns a number in `[0, 1)` that depends only on the seed, the page and number of the codeword, and the
/// erase count.
pub(crate) fn place(seed: u64, page: u64, erases: u32, codeword: u32) -> f64 {
    let mut word = seed ^ page.rotate_left(32) ^ u64::from(erases);
    for add in [0x9E37_79B9_7F4A_7C15, u64::from(codeword).wrapping_mul(0xD1B5_4A32_D192_ED03)] {
        // The finalizer of SplitMix64.
        word = word.wrapping_add(add);
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^= word >> 31;
    }
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Returns the `place` quantile of the Poisson distribution with this mean.
pub(crate) fn poisson(mean: f64, place: f64) -> u32 {
    // Since e^-m > 1 - m, this shortcut is often sufficient.
    if place < 1.0 - mean {
        return 0;
    }
    if mean > NORMAL {
        return (mean + mean.sqrt() * normal(place)).max(0.0) as u32;
    }
    let (mut count, mut term) = (0, libm::exp(-mean));
    let mut sum = term;
    // Beyond the mean, terms decrease until they no longer change the sum.
    while place >= sum && (f64::from(count) < mean || term > sum * f64::EPSILON) {
        count += 1;
        term *= mean / f64::from(count);
        sum += term;
    }
    count
}

/// Returns the `place` quantile of the standard normal distribution, by bisection.
fn normal(place: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let below = 0.5 * libm::erfc(-middle * std::f64::consts::FRAC_1_SQRT_2);
        if below <= place { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_codewords_have_the_mean_and_variance_of_their_law() {
        for mean in [0.01, 0.9, 30.0, 650.0, 900.0] {
            let count = 40_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for number in 0..count {
                let bits = f64::from(poisson(mean, place(7, (number / 4).into(), 3, number % 4)));
                sum += bits;
                squares += bits * bits;
            }
            let found = sum / f64::from(count);
            let variance = squares / f64::from(count) - found * found;
            assert!(
                (found / mean - 1.0).abs() < 5.0 / (mean * f64::from(count)).sqrt() + 0.001,
                "{mean}: {found}"
            );
            assert!((variance / mean - 1.0).abs() < 0.15, "{mean}: {variance}");
        }
    }

    #[test]
    fn wrong_bits_never_become_fewer_while_the_mean_grows() {
        for number in 0..200 {
            let place = place(1, number, 0, 0);
            let counts: Vec<u32> = (0..180).map(|step| poisson(f64::from(step) * 5.0, place)).collect();
            assert!(counts.is_sorted(), "at {place}: {counts:?}");
        }
    }

    #[test]
    fn quantiles_match_the_distribution() {
        // The first probability is e^-1 = 0.36788. The next two terms are equal to it and half of it.
        for (place, count) in [(0.367, 0), (0.368, 1), (0.735, 1), (0.736, 2), (0.919, 2), (0.92, 3)] {
            assert_eq!(poisson(1.0, place), count, "at {place}");
        }
    }
}
