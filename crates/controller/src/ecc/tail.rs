//! The upper tail of the binomial distribution.

/// Probability that more than `most` of `trials` independent events with probability `p` occur.
pub fn binomial_tail(trials: u64, p: f64, most: u64) -> f64 {
    if most >= trials || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let (n, odds) = (trials as f64, p / (1.0 - p));
    // Terms decrease away from the mean, so each side is summed starting at its largest term.
    if most as f64 + 1.0 > n * p {
        let mut term = probability(trials, p, most + 1);
        let mut sum = 0.0;
        let mut k = most + 1;
        while term > sum * f64::EPSILON && k <= trials {
            sum += term;
            term *= (n - k as f64) / (k as f64 + 1.0) * odds;
            k += 1;
        }
        sum
    } else {
        let mut term = probability(trials, p, most);
        let mut sum = 0.0;
        let mut k = most;
        while term > sum * f64::EPSILON {
            sum += term;
            if k == 0 {
                break;
            }
            term *= k as f64 / (n - k as f64 + 1.0) / odds;
            k -= 1;
        }
        1.0 - sum
    }
}

/// Probability that exactly `successes` of `trials` independent events with probability `p` occur.
fn probability(trials: u64, p: f64, successes: u64) -> f64 {
    let (n, k) = (trials as f64, successes as f64);
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    libm::exp(ways + k * libm::log(p) + (n - k) * libm::log1p(-p))
}
