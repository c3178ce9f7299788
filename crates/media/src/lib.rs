//! Media: components that store bits, with physical constraints that no controller can avoid.

pub mod charge;
pub mod disk;
pub mod dram;
pub mod dual_mode_flash;
pub mod flash;
pub mod pcm;
pub mod persistence;
pub mod store;
pub mod worn_cells;
