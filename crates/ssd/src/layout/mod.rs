//! Sizes of a drive, and locations of the pages of a superblock.

pub(crate) mod divisor;
pub(crate) mod geometry;
pub(crate) mod members;
pub(crate) mod numbers;
pub(crate) mod stripes;
