//! Media: what stores bits, with the physics that no controller can cheat.

pub mod charge;
pub mod disk;
pub mod dram;
pub mod dual_mode_flash;
pub mod flash;
pub mod pcm;
pub mod persistence;
pub mod store;
pub mod worn_cells;
