//! Where data goes: superblocks that are being filled, planes, placement handles.

mod filling;
pub(crate) mod frontier;
pub(crate) mod handles;
pub(crate) mod plane_allocation;
mod planes;
pub(crate) mod regions;
