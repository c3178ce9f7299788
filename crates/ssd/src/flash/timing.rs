//! Durations of flash operations.

use crate::config::Config;
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::ops::Cause;
use nacre_kernel::{Bandwidth, Request, Time};

/// Durations of flash operations, and the abilities of a die.
pub(crate) struct Timing {
    /// By page of a block: pages that share a word line differ.
    read: Vec<Time>,
    program: Vec<Time>,
    pub(crate) erase: Time,
    /// Read time in SLC mode.
    single_read: Time,
    single_program: Time,
    /// Channel time of the data of one program.
    pub(crate) program_data: Time,
    /// Channel time of command and address of one page.
    pub(crate) command: Time,
    /// Smallest transfer of a read, and the bandwidth of the channel; `None` if whole units are transferred.
    transfer: Option<(u64, Bandwidth)>,
    /// Channel time of a read of a mapping table page.
    pub(crate) mapping_data: Time,
    /// Channel time of one unit.
    pub(crate) unit_data: Time,
    /// Whether a die receives data while its array is busy.
    pub(crate) is_cached: bool,
    /// Whether waiting programs of several planes with the same page number are combined.
    pub(crate) joins_planes: bool,
    /// Whether garbage collection copies pages inside their die, without correction.
    copies_inside: bool,
    pub(crate) read_priority: bool,
    /// Lanes of a die that read independently.
    pub(crate) lanes: u32,
    /// Page registers of a lane; `None` means no limit.
    pub(crate) registers: Option<u32>,
    /// Time to suspend a program or an erase; `None` without suspension.
    pub(crate) suspend: Option<Time>,
    pub(crate) resume: Time,
    /// Maximum suspensions of one program or erase.
    pub(crate) suspensions: u32,
}

impl Timing {
    /// Durations for `config`, which was validated.
    pub(crate) fn of(config: &Config, geometry: &Geometry) -> Timing {
        let blocks = if config.multi_plane { 1 } else { u64::from(geometry.blocks_per_die()) };
        let by_page = |cycle: &[Time]| cycle.iter().copied().cycle().take(config.pages as usize).collect();
        let slc_cache = config.pages().and_then(|mapping| mapping.slc_cache.as_ref());
        let suspension = config.scheduling.suspension();
        let is_cached = config.registers != Some(1);
        Timing {
            read: by_page(config.nand.read()),
            program: by_page(config.nand.program()),
            erase: Time::from_ps(config.nand.erase().as_ps() * blocks),
            single_read: slc_cache.map_or(Time::ZERO, |cache| cache.read),
            single_program: slc_cache.map_or(Time::ZERO, |cache| cache.program),
            program_data: config.bus.time_for(config.operation_bytes()),
            command: config.command,
            mapping_data: config.bus.time_for(config.transfer.unwrap_or(config.unit).0),
            transfer: config.transfer.map(|transfer| (transfer.0, config.bus)),
            unit_data: config.bus.time_for(config.unit.0),
            is_cached,
            joins_planes: config.multi_plane && geometry.is_by_plane() && config.planes > 1,
            copies_inside: config.pages().is_some_and(|mapping| mapping.allocation.copies_inside()),
            read_priority: config.scheduling.has_read_priority(),
            lanes: if config.scheduling.reads_by_plane() { config.planes } else { 1 },
            registers: config.registers,
            suspend: suspension.map(|suspension| suspension.suspend),
            resume: suspension.map_or(Time::ZERO, |suspension| suspension.resume),
            suspensions: suspension.map_or(0, |suspension| suspension.suspensions),
        }
    }

    /// Whether copies for this cause stay inside their die. A refresh does not: it must correct bit errors.
    #[inline]
    pub(crate) fn is_inside(&self, cause: Cause) -> bool {
        self.copies_inside && matches!(cause, Cause::Cleaning | Cause::Wear)
    }

    /// Time to sense the page at `spot`.
    #[inline]
    pub(crate) fn sensing(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.read[spot.page as usize],
            Cells::Single => self.single_read,
        }
    }

    /// Time to program the page at `spot`.
    #[inline]
    pub(crate) fn programming(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.program[spot.page as usize],
            Cells::Single => self.single_program,
        }
    }
}

impl Timing {
    /// Channel time of the data that `request` needs from these units: the first one, and their number.
    #[inline]
    pub(crate) fn data_of(&self, request: &Request, (unit, units): (u32, u32), unit_bytes: u32) -> Time {
        let Some((transfer, bus)) = self.transfer else { return self.unit_data * u64::from(units) };
        let begin = u64::from(unit) * u64::from(unit_bytes);
        let end = begin + u64::from(units) * u64::from(unit_bytes);
        let from = request.address.max(begin) / transfer;
        let to = (request.address + u64::from(request.bytes)).min(end).div_ceil(transfer);
        bus.time_for((to - from).max(1) * transfer)
    }
}
