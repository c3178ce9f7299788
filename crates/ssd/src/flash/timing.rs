//! How long operations of the flash take.

use crate::config::Config;
use crate::layout::geometry::{Cells, Geometry, Spot};
use crate::ops::Cause;
use nacre_kernel::{Bandwidth, Request, Time};

/// How long operations take, and how a die works.
pub(crate) struct Timing {
    /// By page of a block: those that share a word line differ.
    read: Vec<Time>,
    program: Vec<Time>,
    pub(crate) erase: Time,
    /// Of cells with one bit.
    single_read: Time,
    single_program: Time,
    /// The data of what one program takes in.
    pub(crate) program_data: Time,
    /// Command and address cycles of one page.
    pub(crate) command: Time,
    /// The smallest part of a unit that crosses, if units do not cross as wholes, and how fast.
    transfer: Option<(u64, Bandwidth)>,
    /// What of a page of the mapping table crosses the channel.
    pub(crate) mapping_data: Time,
    /// One unit on the channel.
    pub(crate) unit_data: Time,
    /// Whether a die takes data in while its array works.
    pub(crate) is_cached: bool,
    /// Whether pages of several planes are programmed together if they have the same number.
    pub(crate) joins_planes: bool,
    /// Whether pages that move are copied inside their die, without correction.
    copies_inside: bool,
    pub(crate) read_priority: bool,
    /// Lanes of a die that read independently.
    pub(crate) lanes: u32,
    /// Pages that a lane of a die holds; `None` if as many as are read.
    pub(crate) registers: Option<u32>,
    /// Time to suspend a program or an erase; `None` if nothing is suspended.
    pub(crate) suspend: Option<Time>,
    pub(crate) resume: Time,
    /// How often one program or erase is suspended.
    pub(crate) suspensions: u32,
}

impl Timing {
    /// Of `config`, which was checked.
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

    /// Whether what moves for this cause is copied inside its die. A refresh is there to correct.
    #[inline]
    pub(crate) fn is_inside(&self, cause: Cause) -> bool {
        self.copies_inside && matches!(cause, Cause::Cleaning | Cause::Wear)
    }

    /// Sensing the page at `spot`.
    #[inline]
    pub(crate) fn sensing(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.read[spot.page as usize],
            Cells::Single => self.single_read,
        }
    }

    /// Programming it.
    #[inline]
    pub(crate) fn programming(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.program[spot.page as usize],
            Cells::Single => self.single_program,
        }
    }
}

impl Timing {
    /// What of so many units from `unit` on, of so many bytes each, crosses the channel for `request`.
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
