//! The write buffer.

pub(crate) mod places;
