//! Statistics in the text format of Prometheus, version 0.0.4.
//!
//! Values have base units (seconds, bytes, joules). The names of counters end in `_total`. Histograms have
//! bounds in seconds (Prometheus, "Exposition formats" and "Metric and label naming"). The counts of a
//! histogram are computed from bins that are 0.1 % wide. A latency within 0.1 % of a bound may therefore be
//! counted on the wrong side of the bound.

mod families;
mod page;
#[cfg(test)]
mod tests;

pub use families::text;
pub use page::{HEAD_MAX, respond};
