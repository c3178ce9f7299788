//! A latency distribution given as points of its cumulative distribution.
//!
//! # Model
//! Each point states that the fraction `share` of all requests has a latency of at most `latency`. Samples
//! between two points are uniformly distributed between the latencies of these points. If two points have
//! the same latency, all requests between the points have this latency.
//!
//! # Not modeled
//! The real distribution between the points is not known. With uniform samples between the 99 % point and
//! the maximum, the tail is heavier than the latency tail of most devices. The mean follows from the
//! points, so it may differ from a mean that was published with the points.
//!
//! # Sources
//! Devroye, *Non-Uniform Random Variate Generation*, 1986, sections 2.2 (inversion) and 2.4 (tables).
//!
//! # Checks
//! For each point, the tests compare the share of samples up to its latency with its `share`. The mean of
//! the samples equals the sum of the mean latencies of all intervals, weighted by their shares.

#[cfg(test)]
mod tests;

use super::inverse::{Inverse, Piece};
use super::{Latency, LatencyFamily};
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::state::State;
use nacre_kernel::{Random, Ratio, Time};

/// A latency distribution given as points of its cumulative distribution.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Points of the cumulative latency distribution, from share 0 (smallest latency) to share 1 (largest).
    pub points: Vec<Point>,
}

/// One point of a cumulative distribution.
#[derive(Clone, Debug, Configuration)]
pub struct Point {
    /// Share of the requests that take `latency` or less.
    #[config(min = "0", max = "1")]
    pub share: Ratio,
    /// Maximum latency of these requests.
    pub latency: Time,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let points = &config.points;
    let (first, last) = (points.first().map_or(1.0, |p| p.share.0), points.last().map_or(0.0, |p| p.share.0));
    if first != 0.0 || last != 1.0 {
        let given = format!("{first} to {last}");
        reader.conflict("points", &given, "they do not cover all requests", "use shares from 0 to 1");
    }
    for pair in points.windows(2) {
        let given = format!("{} after {}", pair[1].share, pair[0].share);
        if pair[1].share <= pair[0].share {
            reader.conflict(
                "points",
                given.trim(),
                "their shares do not rise",
                "sort them and drop repeated ones",
            );
        }
        if pair[1].latency < pair[0].latency {
            let given = format!("{} after {}", pair[1].latency, pair[0].latency);
            reader.conflict(
                "points",
                &given,
                "their latencies fall",
                "latencies must not decrease with the share",
            );
        }
    }
}

/// The component's descriptor and constructor.
pub const MODEL: Model<LatencyFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "quantiles",
        "a latency given by points of its cumulative distribution",
        &["Devroye, Non-Uniform Random Variate Generation, s. 2.2"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let between = |pair: &[Point]| Piece {
            share: pair[1].share.0 - pair[0].share.0,
            from: pair[0].latency,
            to: pair[1].latency,
        };
        let pieces: Vec<Piece> = config.points.windows(2).map(between).collect();
        Ok(Box::new(Quantiles { inverse: Inverse::new(&pieces), random: builder.random(slot.path()) }))
    },
};

#[derive(State)]
struct Quantiles {
    #[state(skip = "from the configuration")]
    inverse: Inverse,
    random: Random,
}

impl Latency for Quantiles {
    #[inline]
    fn draw(&mut self) -> Time {
        self.inverse.at(self.random.unit())
    }

    fn mean_s(&self) -> f64 {
        self.inverse.mean_s()
    }
}
