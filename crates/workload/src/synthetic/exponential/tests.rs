use crate::testing::{check_chi_square, check_repeatable, requests};

const SETTINGS: &str =
    "kind = \"exponential\"\nrequests = 200_000\nfootprint = \"400 KiB\"\nscatter = false\n";

/// Compares the requests to 100 blocks with their exact probabilities. The probability of block k is
/// proportional to the integral of exp(-x / 20) from k to k + 1, and therefore to exp(-k / 20).
#[test]
fn blocks_have_their_exact_probabilities() {
    let settings = format!("{SETTINGS}mean = \"20 %\"");
    check_repeatable(&settings);
    let mut counts = vec![0_u64; 100];
    requests(&settings).iter().for_each(|request| counts[(request.address / 4096) as usize] += 1);
    let weight = |k: usize| libm::exp(-(k as f64) / 20.0);
    let sum: f64 = (0..100).map(weight).sum();
    check_chi_square(&counts, &(0..100).map(|k| 2e5 * weight(k) / sum).collect::<Vec<f64>>());
}
