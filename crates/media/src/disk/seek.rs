//! Seek times of an arm.

use nacre_kernel::Time;

/// The three seek times of a data sheet, including settling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekTimes {
    /// Seek time to the next track.
    pub track_to_track: Time,
    /// Average seek time over all pairs of tracks.
    pub average: Time,
    /// Seek time from the outermost to the innermost track.
    pub full_stroke: Time,
}

/// Seek time as a function of distance. Up to a distance `k`, it is `s + b sqrt(x)`. Beyond `k`, it is the
/// tangent of this curve, `s + b (sqrt(k) + (x - k) / (2 sqrt(k)))`. The distance `x` is a share of the full
/// stroke.
///
/// On short seeks, an arm accelerates for half of the distance and brakes for the other half, so the time
/// grows with the square root of the distance. On long seeks, it coasts at its top speed (Ruemmler and Wilkes
/// 1994).
///
/// The three parameters follow from the three times T1, Ta, and Tf:
/// - `s = T1`, because one track is a negligible share of the stroke;
/// - `Tf = s + b F(k)` with `F(k) = (1 + k) / (2 sqrt(k))`;
/// - `Ta = s + b M(k)`. Here, `M(k)` is the mean over all pairs of tracks, whose distances have the density
///   `2 (1 - x)`: `M(k) = 4/3 k^(3/2) - 4/5 k^(5/2) + sqrt(k) (1-k)^2 + (1-k)^3 / (6 sqrt(k))`.
///
/// Therefore, `(Ta - s) / (Tf - s) = M(k) / F(k)`. This ratio rises from 1/3 (a straight line, k = 0) to 8/15
/// (a square root throughout, k = 1), and the equation is solved for k by bisection. Manufacturers define
/// their average in the same way, e.g. Hitachi in the Ultrastar 15K450 specification, section 4.5.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeekCurve {
    settle_s: f64,
    root_s: f64,
    knee: f64,
}

/// Error for three seek times through which no seek curve can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Smallest average that fits the other two times.
    pub least_average: Time,
    /// Largest average that fits the other two times.
    pub most_average: Time,
}

impl SeekCurve {
    /// Returns the curve through `times`. The average seek time must be between the averages of a straight
    /// line and of a square-root curve. Otherwise, returns an error with these two limits.
    pub fn fit(times: SeekTimes) -> Result<SeekCurve, Unfit> {
        let stroke = times.full_stroke.saturating_sub(times.track_to_track);
        let unfit = Unfit {
            least_average: times.track_to_track + Time::from_ps(stroke.as_ps().div_ceil(3)),
            most_average: times.track_to_track + stroke.scaled(8.0 / 15.0),
        };
        let fits = times.average >= unfit.least_average && times.average <= unfit.most_average;
        if stroke.is_zero() || !fits {
            return Err(unfit);
        }
        let settle_s = times.track_to_track.as_secs_f64();
        let wanted = (times.average.as_secs_f64() - settle_s) / stroke.as_secs_f64();
        let (mut low, mut high) = (0.0, 1.0);
        // 60 bisections determine k to its last bit.
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if mean_part(middle) / full_part(middle) < wanted { low = middle } else { high = middle }
        }
        Ok(SeekCurve { settle_s, root_s: stroke.as_secs_f64() / full_part(high), knee: high })
    }

    /// Seek time over `distance`, a share of the full stroke that is greater than 0.
    #[inline]
    pub fn time(&self, distance: f64) -> Time {
        let shape = if distance <= self.knee {
            distance.sqrt()
        } else {
            (distance + self.knee) / (2.0 * self.knee.sqrt())
        };
        Time::from_secs_f64(self.settle_s + self.root_s * shape)
    }
}

/// `F(k)`: the seek time over the full stroke, without `s` and for `b = 1`.
fn full_part(k: f64) -> f64 {
    (1.0 + k) / (2.0 * k.sqrt())
}

/// `M(k)`: the mean seek time over all pairs of tracks, without `s` and for `b = 1`.
fn mean_part(k: f64) -> f64 {
    let root = k.sqrt();
    let rest = 1.0 - k;
    4.0 / 3.0 * k * root - 0.8 * k * k * root + root * rest * rest + rest * rest * rest / (6.0 * root)
}
