//! The write buffer.

pub(crate) mod slots;
