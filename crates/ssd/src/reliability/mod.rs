//! Bits that go wrong, and what codes make of them.

pub(crate) mod ageing;
pub(crate) mod errors;
