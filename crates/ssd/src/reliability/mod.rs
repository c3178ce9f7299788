//! Bit errors and their correction.

pub(crate) mod aging;
pub(crate) mod errors;
