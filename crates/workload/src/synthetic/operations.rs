//! Operations of a pattern: reads, writes, and trims with given probabilities.

use nacre_kernel::state::State;
use nacre_kernel::{Op, Random, Ratio};

/// Independent random operations of requests.
#[derive(Clone, Debug, State)]
pub(crate) struct Operations {
    random: Random,
    /// Random numbers of 53 bits below this value select reads.
    #[state(skip = "from the configuration")]
    reads_below: u64,
    /// Other random numbers below this value select trims, and all larger numbers select writes.
    #[state(skip = "from the configuration")]
    trims_below: u64,
    /// The operation if all requests have the same operation. No random numbers are used then.
    #[state(skip = "from the configuration")]
    only: Option<Op>,
}

/// Number of different random numbers.
const ALL: u64 = 1 << 53;

impl Operations {
    /// Creates operations with the fraction `read_share` of reads and the fraction `trim_share` of trims.
    /// The remaining requests are writes.
    pub(crate) fn new(read_share: Ratio, trim_share: Ratio, random: Random) -> Operations {
        let scaled = |share: f64| (share.min(1.0) * ALL as f64 + 0.5) as u64;
        let (reads_below, trims_below) = (scaled(read_share.0), scaled(read_share.0 + trim_share.0));
        let only = match (reads_below, trims_below) {
            (ALL, _) => Some(Op::Read),
            (0, ALL) => Some(Op::Trim),
            (0, 0) => Some(Op::Write),
            _ => None,
        };
        Operations { random, reads_below, trims_below, only }
    }

    /// Returns the next operation.
    #[inline]
    pub(crate) fn next(&mut self) -> Op {
        if let Some(only) = self.only {
            return only;
        }
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

/// Formats a fraction for a message, e.g. `70 %`, without rounding errors of binary fractions.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}
