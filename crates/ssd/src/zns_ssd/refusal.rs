//! Why a write is refused.

/// Why a drive with zones refuses a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It does not begin with a unit, or does not end with one.
    NotWholeUnits,
    /// It does not begin at the write pointer.
    NotAtWritePointer,
    /// Its zone is full.
    Full,
    /// It goes beyond the end of its zone.
    Boundary,
    /// As many zones are active as may be.
    TooManyActive,
    /// Too many blocks are worn out.
    WornOut,
}

impl Refusal {
    /// How many there are.
    pub(crate) const COUNT: usize = 6;
    /// The counters of each.
    pub(crate) const COUNTERS: [&'static str; Refusal::COUNT] = [
        "refused_not_whole_units",
        "refused_not_at_write_pointer",
        "refused_zone_full",
        "refused_zone_boundary",
        "refused_too_many_active",
        "refused_worn_out",
    ];
}
