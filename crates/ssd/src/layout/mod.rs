//! Sizes of a drive, and where a page of a superblock lies.

pub(crate) mod divisor;
pub(crate) mod geometry;
pub(crate) mod members;
pub(crate) mod stripes;
