//! Tests that apply to several or all formats.

mod detection;
mod hostile;
mod order;
mod round_trips;
mod samples;
mod small;
