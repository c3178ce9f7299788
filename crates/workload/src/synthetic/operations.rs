//! What the requests of a pattern do: reads, writes and trims by their shares.

use nacre_kernel::state::State;
use nacre_kernel::{Op, Random, Ratio};

/// Draws the operation of each request, independently.
#[derive(Clone, Debug, State)]
pub(crate) struct Operations {
    random: Random,
    /// Draws of 53 bits below this are reads, ...
    #[state(skip = "from the configuration")]
    reads_below: u64,
    /// ... below this trims, and the rest writes.
    #[state(skip = "from the configuration")]
    trims_below: u64,
}

impl Operations {
    /// Reads and trims with these shares, writes for the rest.
    pub(crate) fn new(read_share: Ratio, trim_share: Ratio, random: Random) -> Operations {
        let scaled = |share: f64| (share.min(1.0) * (1u64 << 53) as f64 + 0.5) as u64;
        Operations {
            random,
            reads_below: scaled(read_share.0),
            trims_below: scaled(read_share.0 + trim_share.0),
        }
    }

    /// The next operation.
    #[inline]
    pub(crate) fn next(&mut self) -> Op {
        let draw = self.random.bits() >> 11;
        if draw < self.reads_below {
            Op::Read
        } else if draw < self.trims_below {
            Op::Trim
        } else {
            Op::Write
        }
    }
}

/// A share for a message: `70 %`, without the noise of binary fractions.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}
