//! Parts: what their data sheets say about time.

use nacre_kernel::Time;

/// A time as data sheets give it: so long, and so many clocks at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The time.
    pub time: Time,
    /// The clocks.
    pub clocks: u64,
}

impl Span {
    /// So many nanoseconds, in hundredths.
    const fn ns(hundredths: u64) -> Span {
        Span { time: Time::from_ps(hundredths * 10), clocks: 0 }
    }

    /// So many clocks.
    pub const fn clocks(clocks: u64) -> Span {
        Span { time: Time::ZERO, clocks }
    }

    const fn or_clocks(self, clocks: u64) -> Span {
        Span { clocks, ..self }
    }

    /// Whole clocks of `clock` that cover it.
    pub fn in_clocks(self, clock: Time) -> u64 {
        self.time.as_ps().div_ceil(clock.as_ps()).max(self.clocks)
    }
}

/// A memory part, and the modules made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// One clock; data moves at both its edges.
    pub clock: Time,
    /// Banks of a group.
    pub banks: u32,
    /// Groups of banks; one where there are none.
    pub groups: u32,
    /// Transfers of a burst.
    pub burst: u64,
    /// From a read to its data: CL.
    pub read_latency: u64,
    /// From a write to its data: CWL.
    pub write_latency: u64,
    /// From opening a row to reading or writing it: tRCD.
    pub activate_to_access: Span,
    /// From closing a row to opening another: tRP.
    pub precharge: Span,
    /// From opening a row to closing it: tRAS.
    pub row_open: Span,
    /// From opening a row to opening the next of its bank: tRC.
    pub row_cycle: Span,
    /// From opening a row to opening one of another bank: tRRD, of another group where there are groups.
    pub activate_to_activate: Span,
    /// The same within a group.
    pub activate_to_activate_in_group: Span,
    /// In which at most four rows are opened: tFAW.
    pub four_activates: Span,
    /// From a read to a read, and a write to a write: tCCD, of another group where there are groups.
    pub access_to_access: Span,
    /// The same within a group.
    pub access_to_access_in_group: Span,
    /// From the last data written to closing the row: tWR.
    pub write_recovery: Span,
    /// From the last data written to a read: tWTR, of another group where there are groups.
    pub write_to_read: Span,
    /// The same within a group.
    pub write_to_read_in_group: Span,
    /// From a read to closing the row: tRTP.
    pub read_to_precharge: Span,
    /// Between data of two ranks: tRTRS.
    pub rank_to_rank: Span,
    /// How often each rank is refreshed, and how long that takes: tREFI and tRFC; `None` for a part that keeps its data.
    pub refresh: Option<(Time, Span)>,
}

/// 4 Gbit of DDR3 SDRAM at 1600 MT/s, 11-11-11. alliance-as4c256m16d3b, speed bins and AC characteristics, for tRCD, tRP,
/// tRC, tRAS, tRRD, tFAW (pages of 2 KiB), tCCD; jesd79-3 for tWR, tWTR, tRTP, tRFC, tREFI; tRTRS is assumed.
pub const DDR3_1600_4GBIT: Part = Part {
    clock: Time::from_ps(1250),
    banks: 8,
    groups: 1,
    burst: 8,
    read_latency: 11,
    write_latency: 8,
    activate_to_access: Span::ns(1375),
    precharge: Span::ns(1375),
    row_open: Span::ns(3500),
    row_cycle: Span::ns(4875),
    activate_to_activate: Span::ns(750).or_clocks(4),
    activate_to_activate_in_group: Span::ns(750).or_clocks(4),
    four_activates: Span::ns(4000),
    access_to_access: Span::clocks(4),
    access_to_access_in_group: Span::clocks(4),
    write_recovery: Span::ns(1500),
    write_to_read: Span::ns(750).or_clocks(4),
    write_to_read_in_group: Span::ns(750).or_clocks(4),
    read_to_precharge: Span::ns(750).or_clocks(4),
    rank_to_rank: Span::clocks(2),
    refresh: Some((Time::from_ns(7800), Span::ns(26_000))),
};

/// 8 Gbit of DDR4 SDRAM at 2400 MT/s, 17-17-17, pages of 1 KiB. jesd79-4, from memory; tRTRS is assumed.
pub const DDR4_2400_8GBIT: Part = Part {
    clock: Time::from_ps(833),
    banks: 4,
    groups: 4,
    burst: 8,
    read_latency: 17,
    write_latency: 12,
    activate_to_access: Span::ns(1416),
    precharge: Span::ns(1416),
    row_open: Span::ns(3200),
    row_cycle: Span::ns(4616),
    activate_to_activate: Span::ns(330).or_clocks(4),
    activate_to_activate_in_group: Span::ns(490).or_clocks(4),
    four_activates: Span::ns(2100).or_clocks(20),
    access_to_access: Span::clocks(4),
    access_to_access_in_group: Span::ns(500).or_clocks(5),
    write_recovery: Span::ns(1500),
    write_to_read: Span::ns(250).or_clocks(2),
    write_to_read_in_group: Span::ns(750).or_clocks(4),
    read_to_precharge: Span::ns(750).or_clocks(4),
    rank_to_rank: Span::clocks(2),
    refresh: Some((Time::from_ns(7800), Span::ns(35_000))),
};

/// 256 Mbit of STT-MRAM behind DDR3 commands at 1066 MT/s. everspin-emd3d256m pages 25 to 28 for CL, tRCD, tRP (8-47-36
/// clocks), tRTP, tCCD, and that a row is durable once it is closed. Assumed, since those pages do not give them: tRAS
/// as tRCD and tRTP together, tRC as tRAS and tRP; CWL, tRRD, tFAW, tWR, tWTR as of DDR3-1066 with pages of 1 KiB.
pub const ST_DDR3_1066_256MBIT: Part = Part {
    clock: Time::from_ps(1876),
    banks: 8,
    groups: 1,
    burst: 8,
    read_latency: 8,
    write_latency: 6,
    activate_to_access: Span::clocks(47),
    precharge: Span::clocks(36),
    row_open: Span::clocks(52),
    row_cycle: Span::clocks(88),
    activate_to_activate: Span::ns(750).or_clocks(4),
    activate_to_activate_in_group: Span::ns(750).or_clocks(4),
    four_activates: Span::ns(3750),
    access_to_access: Span::clocks(4),
    access_to_access_in_group: Span::clocks(4),
    write_recovery: Span::ns(1500),
    write_to_read: Span::ns(750).or_clocks(4),
    write_to_read_in_group: Span::ns(750).or_clocks(4),
    read_to_precharge: Span::clocks(5),
    rank_to_rank: Span::clocks(2),
    refresh: None,
};
