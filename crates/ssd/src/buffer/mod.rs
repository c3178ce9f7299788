//! What the host writes first: the write buffer, and cells with one bit.

pub(crate) mod places;
pub(crate) mod slc_cache;
