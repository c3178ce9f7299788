//! Parity within superblocks: what fills stripes, and units that are rebuilt from the others.

mod array;
mod rebuilding;
