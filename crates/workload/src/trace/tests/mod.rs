//! Tests across rooms.

mod samples;
