//! Piecewise linear inverse of a cumulative distribution function.

use nacre_kernel::Time;

/// Number of entries in the index. The number is a power of two, so that its product with a random number is
/// exact.
const INDEX_PLACES: usize = 1024;

/// One piece of a distribution: a `share` of all samples, uniform between two latencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// Share of the samples, relative to the other pieces.
    pub(crate) share: f64,
    /// Smallest latency of the piece.
    pub(crate) from: Time,
    /// Largest latency of the piece.
    pub(crate) to: Time,
}

/// A distribution whose samples take constant time on average. An index gives a piece near the sampled
/// piece (Chen and Asau, "On generating random variates from an empirical distribution", 1974).
pub(crate) struct Inverse {
    /// Cumulative share at the end of each piece.
    ends: Vec<f64>,
    /// Smallest latency and slope of each piece, in picoseconds.
    lines: Vec<(f64, f64)>,
    index: Vec<u32>,
    mean_ps: f64,
}

impl Inverse {
    /// A distribution of `pieces`, at least one of which must have a positive share.
    pub(crate) fn new(pieces: &[Piece]) -> Inverse {
        let kept: Vec<&Piece> = pieces.iter().filter(|piece| piece.share > 0.0).collect();
        let total: f64 = kept.iter().map(|piece| piece.share).sum();
        assert!(total > 0.0, "a distribution has at least one piece");
        let (mut ends, mut lines, mut mean_ps, mut start) = (Vec::new(), Vec::new(), 0.0, 0.0);
        for piece in &kept {
            let share = piece.share / total;
            let (from, to) = (piece.from.as_ps() as f64, piece.to.as_ps() as f64);
            let slope = (to - from) / share;
            lines.push((from - slope * start, slope));
            mean_ps += share * (from + to) / 2.0;
            start += share;
            ends.push(start);
        }
        // Rounding must not leave a gap below 1.
        *ends.last_mut().expect("at least one piece") = 1.0;
        let first_piece = |place: usize| {
            let share = place as f64 / INDEX_PLACES as f64;
            ends.partition_point(|&end| end <= share) as u32
        };
        let index = (0..INDEX_PLACES).map(first_piece).collect();
        Inverse { ends, lines, index, mean_ps }
    }

    /// The quantile for `u` in `[0, 1)`.
    #[inline]
    pub(crate) fn at(&self, u: f64) -> Time {
        let mut piece = self.index[(u * INDEX_PLACES as f64) as usize] as usize;
        while u >= self.ends[piece] {
            piece += 1;
        }
        let (offset, slope) = self.lines[piece];
        Time::from_ps((offset + slope * u + 0.5) as u64)
    }

    /// The mean, in seconds.
    pub(crate) fn mean_s(&self) -> f64 {
        self.mean_ps / 1e12
    }
}
