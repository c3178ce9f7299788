//! Open superblocks, and allocation of pages to planes.

mod filling;
mod planes;
