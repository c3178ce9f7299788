//! Statistics in the text format of Prometheus, version 0.0.4.
//!
//! Base units (seconds, bytes, joules), counters that end in `_total`, histograms with their bounds in seconds
//! (Prometheus, "Exposition formats" and "Metric and label naming"). The counts of a histogram are those of
//! bars 0.1 % wide: a latency closer than that to a bound may be counted on its other side.

mod families;
mod page;
#[cfg(test)]
mod tests;

pub use families::text;
pub use page::{HEAD_MAX, respond};
