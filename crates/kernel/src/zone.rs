//! Zones: address ranges that are written sequentially and reset as a whole.

/// A zone of a device. A trim of the whole zone resets it, and a trim from its write pointer to its end
/// finishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its first byte.
    pub start: u64,
    /// First byte after the zone.
    pub end: u64,
    /// Address of its next write; the end of a full zone.
    pub write_pointer: u64,
}
