//! Bits that go wrong, and what is done about them: codes, read retries, parity, refresh.

pub(crate) mod ageing;
pub(crate) mod errors;
pub(crate) mod parity;
mod refresh;
