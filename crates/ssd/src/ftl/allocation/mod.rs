//! Superblocks that are being filled, and planes.

mod filling;
mod planes;
