//! Zones: parts of a device's addresses that are written in order and reset as a whole.

/// A zone, as a device with zones reports it. A zone is reset by a trim of all of it, and finished by a trim from its
/// write pointer to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Its first byte.
    pub start: u64,
    /// First byte after the zone.
    pub end: u64,
    /// Address of its next write; the end of a full zone.
    pub write_pointer: u64,
}
