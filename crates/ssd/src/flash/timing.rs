//! Durations of flash operations.

use crate::config::Config;
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::ops::Cause;
use nacre_kernel::{Bandwidth, Request, Time};

/// Durations of flash operations, and the capabilities of a die.
pub(crate) struct Timing {
    /// Read time of each page of a block. Pages that share a word line have different times.
    read: Vec<Time>,
    program: Vec<Time>,
    pub(crate) erase: Time,
    /// Read time in SLC mode.
    single_read: Time,
    single_program: Time,
    /// Channel time of the data of a program.
    pub(crate) program_data: Time,
    /// Channel time of the command and address of a page.
    pub(crate) command: Time,
    /// Minimum transfer size of a read in bytes; `None` if whole units are transferred.
    transfer: Option<u64>,
    /// Bandwidth of a channel.
    pub(crate) bus: Bandwidth,
    /// Channel time of a read of a mapping table page.
    pub(crate) mapping_data: Time,
    /// Channel time of one unit.
    pub(crate) unit_data: Time,
    /// Whether a die can receive data while its array is busy.
    pub(crate) is_cached: bool,
    /// Whether waiting programs for the same page number in several planes are combined.
    pub(crate) joins_planes: bool,
    /// Whether garbage collection copies pages inside their die, without error correction.
    copies_inside: bool,
    pub(crate) read_priority: bool,
    /// Number of lanes of a die. Lanes read independently.
    pub(crate) lanes: u32,
    /// Number of page registers per lane; `None` means no limit.
    pub(crate) registers: Option<u32>,
    /// Time to suspend a program or an erase; `None` means that suspension is not possible.
    pub(crate) suspend: Option<Time>,
    pub(crate) resume: Time,
    /// Maximum number of suspensions of one program or erase.
    pub(crate) suspensions: u32,
}

impl Timing {
    /// Computes the durations for the validated configuration `config`.
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
            transfer: config.transfer.map(|transfer| transfer.0),
            bus: config.bus,
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

    /// Returns whether copies with this cause stay inside their die. Copies of a refresh never stay inside,
    /// because they must correct bit errors.
    #[inline]
    pub(crate) fn is_inside(&self, cause: Cause) -> bool {
        self.copies_inside && matches!(cause, Cause::Cleaning | Cause::Wear)
    }

    /// Returns the sensing time of the page at `spot`.
    #[inline]
    pub(crate) fn sensing(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.read[spot.page as usize],
            Cells::Single => self.single_read,
        }
    }

    /// Returns the program time of the page at `spot`.
    #[inline]
    pub(crate) fn programming(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.program[spot.page as usize],
            Cells::Single => self.single_program,
        }
    }
}

impl Timing {
    /// Returns the channel time of the data that `request` requires from these units, given as the first unit
    /// and their number.
    #[inline]
    pub(crate) fn data_of(&self, request: &Request, (unit, units): (u64, u32), unit_bytes: u32) -> Time {
        let Some(transfer) = self.transfer else { return self.unit_data * u64::from(units) };
        let begin = unit * u64::from(unit_bytes);
        let end = begin + u64::from(units) * u64::from(unit_bytes);
        let from = request.address.max(begin) / transfer;
        let to = (request.address + u64::from(request.bytes)).min(end).div_ceil(transfer);
        self.bus.time_for((to - from).max(1) * transfer)
    }
}
