//! Open superblocks, and allocation by plane.

mod filling;
mod planes;
