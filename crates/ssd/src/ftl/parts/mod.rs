//! Components of the translation layer's tables.

pub(crate) mod blocks;
pub(crate) mod emptying;
pub(crate) mod frontier;
pub(crate) mod handles;
pub(crate) mod plane_allocation;
pub(crate) mod regions;
pub(crate) mod slc_cache;
