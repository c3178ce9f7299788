//! Caches that are compared with the naive simulation.

pub(super) const PAGE: u64 = 2048;
/// Read time in nanoseconds for SLC mode and for MLC mode.
pub(super) const SENSE: [u64; 2] = [25_013, 50_021];
pub(super) const PROGRAM: [u64; 2] = [250_037, 900_049];
pub(super) const ERASE: [u64; 2] = [500_057, 3_500_063];
pub(super) const DECODE: u64 = 15_077;
/// Read time of the backing in nanoseconds.
pub(super) const READ: u64 = 1_000_081;
pub(super) const WRITE: u64 = 2_000_089;
/// Number of adjacent pages that are programmed into one open block, and maximum number of pages per
/// write-back.
pub(super) const RUN: u64 = 64;

#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) blocks: usize,
    pub(super) slots: usize,
    pub(super) is_mlc: bool,
    pub(super) dies: usize,
    /// Number of blocks in the region for written pages. This region contains the first blocks.
    pub(super) writes: usize,
    pub(super) collects_above: f64,
    pub(super) decoders: usize,
    pub(super) encode: u64,
    pub(super) lookup: u64,
    pub(super) servers: usize,
}
