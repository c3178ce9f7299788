//! Bits that go wrong, and what codes make of them.

pub(crate) mod aging;
pub(crate) mod errors;
