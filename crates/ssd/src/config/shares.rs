//! Shares in what is said of mistakes.

use nacre_kernel::Ratio;

/// A share as text, without the last digits of binary fractions.
pub(crate) fn percent(share: Ratio) -> String {
    format!("{} %", (share.0 * 1e8).round() / 1e6)
}
