//! Shares of a whole.

use nacre_kernel::Ratio;

/// A share as text, without the last digits of binary fractions.
pub(crate) fn percent(share: Ratio) -> String {
    format!("{} %", (share.0 * 1e8).round() / 1e6)
}

/// The share of each tenant in `depth` places, rounded down, and one at least.
pub(crate) fn tenants_places(depth: u32, shares: &[u32]) -> Vec<u32> {
    let sum: u64 = shares.iter().map(|&share| u64::from(share)).sum();
    let part = |&share: &u32| ((u64::from(depth) * u64::from(share) / sum) as u32).max(1);
    shares.iter().map(part).collect()
}
