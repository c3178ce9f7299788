//! Components of the translation layer's tables.

pub(crate) mod handles;
pub(crate) mod partial_units;
pub(crate) mod plane_allocation;
pub(crate) mod regions;
pub(crate) mod slc_cache;
