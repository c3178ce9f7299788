//! Zones: parts of a device's addresses that are written in order and reset as a whole.

/// A zone, as a device with zones reports it. A zone is reset by a trim of all of it, and finished by a trim from its
/// write pointer to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its first byte.
    pub start: u64,
    /// The first byte behind it.
    pub end: u64,
    /// Where its next write has to begin; the end of a zone that is full.
    pub write_pointer: u64,
}
