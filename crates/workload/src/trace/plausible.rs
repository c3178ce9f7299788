//! Checks whether the duration of a trace is plausible in its time unit.

use super::options::TimeUnit;

/// A duration that is longer than any published block trace, in picoseconds.
const YEAR: f64 = 366.0 * 86_400e12;
/// Minimum number of records for a meaningful rate.
const FEWEST: u64 = 100;
/// Range of plausible mean gaps between requests, in picoseconds. It corresponds to rates from 20 million
/// requests per second down to one request in ten seconds.
const USUAL: (f64, f64) = (50e3, 10e12);
/// Range of mean gaps that traces of real systems have, in picoseconds. Nacre proposes units that give a mean
/// gap in this range.
const TYPICAL: (f64, f64) = (1e6, 1e12);

/// Reason why a time unit is implausible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implausible {
    /// Whether the unit is impossible and not merely unusual.
    pub impossible: bool,
    /// Duration and rate that follow from the unit, as text.
    pub problem: String,
    /// Units with which the trace would resemble traces of real systems.
    pub units: Vec<TimeUnit>,
}

impl Implausible {
    /// Remedy for the user.
    pub fn remedy(&self) -> String {
        if self.units.is_empty() {
            return "check the times in the file".into();
        }
        let units: Vec<&str> = self.units.iter().map(|unit| unit.name()).collect();
        format!("{} would be plausible", units.join(" or "))
    }
}

/// Checks whether `records` requests with a duration of `span_ps` picoseconds are plausible if times are in
/// `unit`. Returns `None` if they are plausible.
///
/// A duration of more than a year, or a mean gap of less than 1 ns, is impossible. A mean gap of more than 10
/// s or less than 50 ns is unusual.
pub fn implausible_span(unit: TimeUnit, span_ps: u128, records: u64) -> Option<Implausible> {
    if records < 2 || span_ps == 0 {
        return None;
    }
    let span = span_ps as f64;
    let mean = span / (records - 1) as f64;
    let judged = records >= FEWEST;
    let impossible = span > YEAR || (judged && mean < 1e3);
    if !impossible && (!judged || (USUAL.0..=USUAL.1).contains(&mean)) {
        return None;
    }
    let scale = |other: TimeUnit| other.picoseconds() as f64 / unit.picoseconds() as f64;
    let units = TimeUnit::ALL
        .into_iter()
        .filter(|&other| other != unit && span * scale(other) <= YEAR)
        .filter(|&other| (TYPICAL.0..=TYPICAL.1).contains(&(mean * scale(other))))
        .collect();
    let problem =
        format!("{records} requests would span {}, one every {} on average", words(span), words(mean));
    Some(Implausible { impossible, problem, units })
}

/// Formats a duration in picoseconds in the largest unit with a value of at least one.
fn words(ps: f64) -> String {
    const SCALES: [(&str, f64); 8] = [
        ("years", 365.0 * 86_400e12),
        ("days", 86_400e12),
        ("h", 3_600e12),
        ("s", 1e12),
        ("ms", 1e9),
        ("us", 1e6),
        ("ns", 1e3),
        ("ps", 1.0),
    ];
    let (unit, scale) = SCALES.into_iter().find(|&(_, scale)| ps >= scale).unwrap_or(("ps", 1.0));
    format!("{:.3} {unit}", ps / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u128 = 1_000_000_000_000;

    #[test]
    fn a_trace_of_seconds_read_as_nanoseconds_is_impossible_and_s_is_named() {
        // The trace has a million requests in an hour. If seconds are read as nanoseconds, requests are 3.6
        // ps apart. The gap is 3.6 ms with seconds, and 3.6 us with milliseconds. With microseconds, the gap
        // is 3.6 ns, which no system has.
        let found = implausible_span(TimeUnit::Ns, 3600 * 1000, 1_000_000).unwrap();
        assert!(found.impossible);
        assert_eq!(found.units, [TimeUnit::Ms, TimeUnit::S]);
    }

    #[test]
    fn nanoseconds_read_as_milliseconds_span_years() {
        // The trace has 10,000 requests in 259.6 s. If nanoseconds are read as milliseconds, the trace takes
        // 8.2 years. The gap is 26 ms with nanoseconds. With steps of 100 ns, the gap is 2.6 s, which is
        // above TYPICAL.
        let found = implausible_span(TimeUnit::Ms, 259_600_000 * SECOND, 10_000).unwrap();
        assert!(found.impossible);
        assert_eq!(found.problem, "10000 requests would span 8.232 years, one every 7.212 h on average");
        assert_eq!(found.units, [TimeUnit::Ns]);
    }

    #[test]
    fn an_odd_rate_is_a_warning_and_a_usual_one_is_none() {
        // The trace has 6,999 requests in 0.136 s. If nanoseconds are read as milliseconds, the trace takes
        // 37.8 hours.
        let odd = implausible_span(TimeUnit::Ms, 136_000 * SECOND, 6_999).unwrap();
        assert!(!odd.impossible);
        assert!(odd.units.contains(&TimeUnit::Ns));
        assert_eq!(implausible_span(TimeUnit::Ns, SECOND * 136 / 1000, 6_999), None);
        assert_eq!(implausible_span(TimeUnit::S, 0, 1000), None, "all in one second says nothing");
        assert_eq!(implausible_span(TimeUnit::Ns, 5, 2), None, "two requests say nothing about a rate");
    }
}
