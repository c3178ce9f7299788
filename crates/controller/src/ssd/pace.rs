//! How long things take.

use super::config::{Arbitration, Config};
use super::die::Suspending;
use super::flash_ops::Cause;
use super::geometry::{Cells, Geometry, Spot};
use nacre_kernel::Time;

/// How long things take, and what goes first.
pub(super) struct Pace {
    /// By page of a block: those that share a word line differ.
    read: Vec<Time>,
    program: Vec<Time>,
    pub(super) erase: Time,
    /// Of cells with one bit.
    single_read: Time,
    single_program: Time,
    /// Commands and the bytes of what one operation programs.
    pub(super) program_transfer: Time,
    pub(super) command: Time,
    pub(super) unit_transfer: Time,
    /// A single unit with its command.
    pub(super) unit_crossing: Time,
    pub(super) cached: bool,
    /// Whether pages of several planes are programmed together where they happen to have the same number.
    pub(super) joins_planes: bool,
    /// Whether pages that move are copied inside their die, without correction.
    copies_inside: bool,
    pub(super) read_priority: bool,
    /// Whether planes read by themselves.
    pub(super) reads_by_plane: bool,
    /// Pages of a plane that a die holds while the host reads; `None` where as many as are asked for.
    pub(super) registers: Option<usize>,
    /// Whether reads of the host go first and have the whole die, and neither registers nor turns of channels and erases are kept.
    pub(super) is_plain: bool,
    pub(super) suspending: Suspending,
}

impl Pace {
    pub(super) fn of(config: &Config, geometry: &Geometry) -> Pace {
        let pages = u64::from(geometry.operation_units / geometry.units_per_page);
        let blocks = if config.multi_plane { 1 } else { u64::from(geometry.blocks_per_die()) };
        let by_page = |cycle: &[Time]| cycle.iter().copied().cycle().take(config.pages as usize).collect();
        let cached = config.cached && config.registers != Some(1);
        let registers = if cached { config.registers.map(|registers| registers as usize) } else { Some(1) };
        Pace {
            read: by_page(config.nand.read()),
            program: by_page(config.nand.program()),
            erase: Time::from_ps(config.nand.erase().as_ps() * blocks),
            single_read: config.slc_cache.as_ref().map_or(Time::ZERO, |cache| cache.read),
            single_program: config.slc_cache.as_ref().map_or(Time::ZERO, |cache| cache.program),
            program_transfer: config.bus.time_for(config.operation_bytes()) + config.command * pages,
            command: config.command,
            unit_transfer: config.bus.time_for(config.unit.0),
            unit_crossing: config.command + config.bus.time_for(config.unit.0),
            cached,
            joins_planes: config.multi_plane && geometry.is_by_plane() && config.planes > 1,
            copies_inside: config.copyback,
            read_priority: config.read_priority,
            reads_by_plane: config.reads_by_plane(),
            registers,
            is_plain: config.read_priority
                && !config.reads_by_plane()
                && registers.is_none()
                && config.arbitration == Arbitration::FirstFit
                && config.erases_at_once.is_none(),
            suspending: Suspending {
                suspend: config.suspend,
                resume: config.resume,
                most: config.suspensions,
            },
        }
    }

    /// Whether what moves for this cause is copied inside its die. A refresh is there to correct.
    #[inline]
    pub(super) fn is_inside(&self, cause: Cause) -> bool {
        self.copies_inside && matches!(cause, Cause::Cleaning | Cause::Wear)
    }

    #[inline]
    pub(super) fn reading(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.read[spot.page as usize],
            Cells::Single => self.single_read,
        }
    }

    #[inline]
    pub(super) fn programming(&self, spot: Spot) -> Time {
        match spot.cells {
            Cells::Full => self.program[spot.page as usize],
            Cells::Single => self.single_program,
        }
    }
}
