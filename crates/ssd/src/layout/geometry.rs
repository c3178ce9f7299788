//! Sizes of a drive, and locations of the pages of a superblock.

use crate::config::Config;
use crate::layout::divisor::Divisor;
use crate::layout::stripes::Stripes;
use nacre_kernel::Request;
use nacre_kernel::state::Value;
use std::ops::Range;

/// Maximum number of units that the host programs in a region between two runs of garbage collection. If
/// there are several regions, the number is also at most 1/`PACES` of a superblock.
const PACE_MOST: u32 = 64;
const PACES: u32 = 32;

/// Cell mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) enum Cells {
    /// All bits per cell.
    Full,
    /// One bit per cell (SLC mode).
    Single,
}

/// Sizes of a drive with a valid configuration.
///
/// A *unit* is a mapping unit (LPN); a flash page holds one or more of them. A *region* has separate write
/// frontiers and garbage collection: it is the whole drive, a reclaim group, or one plane. A *superblock* is
/// one block of every plane of a region. An *operation* programs one page of a die, or of all planes of a
/// region on that die. The operations of a superblock are numbered in program order: across all dies, then
/// the next page. With allocation by plane, operations are numbered per die. Parity operations hold no units,
/// so the units of a superblock include only data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) channels: u32,
    pub(crate) dies: u32,
    pub(crate) planes: u32,
    pub(crate) pages_per_block: u32,
    /// Number of blocks of a superblock in each of its planes.
    pub(crate) blocks_of_plane: u32,
    /// Number of superblocks in all regions. The superblocks of a region are consecutive, and so are the
    /// regions of a die.
    pub(crate) superblocks: u32,
    /// Number of regions: 1, the number of reclaim groups, or the number of planes.
    pub(crate) regions: u32,
    pub(crate) superblocks_of_region: u32,
    is_by_plane: bool,
    /// Divides by the number of superblocks that share a set of dies: all dies, those of a reclaim group, or
    /// one die.
    by_superblocks_of_dies: Divisor,
    /// Divides by the number of dies that a superblock spans.
    pub(crate) by_dies_of_superblock: Divisor,
    pub(crate) unit_bytes: u32,
    /// Number of address bits below the unit number.
    pub(crate) unit_shift: u32,
    pub(crate) units_per_page: u32,
    /// Number of units per operation.
    pub(crate) operation_units: u32,
    /// Difference between the numbers of data operations that are programmed consecutively in a superblock;
    /// 0 if it varies.
    pub(crate) operation_step: u32,
    pub(crate) units_per_superblock: u32,
    /// Number of units that the host programs in a region between two runs of garbage collection there.
    pub(crate) pace: u32,
    /// Number of superblocks per region that are reserved as erased space.
    pub(crate) reserve: u32,
    /// Number of additional open superblocks for placement handles; 0 for a single handle.
    pub(crate) open_for_handles: u32,
    /// Usable capacity in units.
    pub(crate) logical_units: u64,
    /// Size of the mapping table in flash, in units; 0 if the whole table is in DRAM.
    pub(crate) mapping_units: u32,
    /// Number of mappings in one unit of the table.
    pub(crate) mappings_per_unit: u32,
    /// Number of bits of a physical unit number below the superblock number.
    pub(crate) shift: u32,
    /// Divides by the number of operations of a superblock with the same page number on one die. This number
    /// is 1, or the number of planes if planes are programmed separately.
    by_row: Divisor,
    by_block: Divisor,
    /// Like [`Geometry::by_block`], for a superblock in SLC mode, whose blocks have fewer pages.
    by_single_block: Divisor,
    by_operation: Divisor,
    by_die: Divisor,
    by_page: Divisor,
    by_superblock: Divisor,
    /// Whether superblocks span all dies without parity. If so, operations are programmed in data order.
    is_in_order: bool,
    /// Arrangement of operations in stripes; `None` without parity.
    pub(crate) stripes: Option<Stripes>,
}

/// Location of an operation of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Value)]
pub(crate) struct Spot {
    pub(crate) die: u32,
    /// Page number in the block.
    pub(crate) page: u32,
    pub(crate) cells: Cells,
}

impl Geometry {
    /// Computes the sizes for the validated configuration `config`.
    pub(crate) fn of(config: &Config) -> Geometry {
        let dies = config.dies_in_all() as u32;
        let units_per_page = (config.page.0 / config.unit.0) as u32;
        let planes_at_once = if config.multi_plane && !config.is_by_plane() { config.planes } else { 1 };
        let operation_units = units_per_page * planes_at_once;
        let mappings_per_unit = config.mappings_per_unit() as u32;
        let logical_units = config.logical_units();
        let mapping_units = config.mapping_units() as u32;
        let units_per_superblock = config.units_per_superblock() as u32;
        let regions = config.regions() as u32;
        let superblocks_of_region = config.superblocks();
        let is_by_plane = config.is_by_plane() && regions > 1;
        let operations_of_row = if is_by_plane { 1 } else { config.planes / planes_at_once };
        let dies_of_superblock = config.dies_of_superblock() as u32;
        Geometry {
            channels: config.channels,
            dies,
            planes: config.planes,
            pages_per_block: config.pages,
            blocks_of_plane: config.blocks_of_plane(),
            superblocks: superblocks_of_region * regions,
            regions,
            superblocks_of_region,
            is_by_plane,
            by_superblocks_of_dies: Divisor::new(
                superblocks_of_region * if is_by_plane { config.planes } else { 1 },
            ),
            by_dies_of_superblock: Divisor::new(dies_of_superblock),
            unit_bytes: config.unit.0 as u32,
            unit_shift: config.unit.0.trailing_zeros(),
            units_per_page,
            operation_units,
            operation_step: match dies_of_superblock {
                _ if config.stripe().is_some() => 0,
                _ if regions == 1 => 1,
                1 => dies,
                _ => 0,
            },
            units_per_superblock,
            pace: if regions > 1 { (units_per_superblock / PACES).clamp(1, PACE_MOST) } else { PACE_MOST },
            reserve: config.pages().map_or(0, |mapping| mapping.garbage_collection.reserve),
            open_for_handles: config.superblocks_of_handles(),
            logical_units,
            mapping_units,
            mappings_per_unit,
            shift: units_per_superblock.next_power_of_two().trailing_zeros(),
            by_row: Divisor::new(operations_of_row),
            by_block: Divisor::new(config.pages),
            by_single_block: Divisor::new(config.single_pages()),
            by_operation: Divisor::new(operation_units),
            by_die: Divisor::new(dies),
            by_page: Divisor::new(units_per_page),
            by_superblock: Divisor::new(units_per_superblock),
            is_in_order: regions == 1 && config.stripe().is_none(),
            stripes: config.stripe().map(|size| Stripes::new(size, dies_of_superblock)),
        }
    }

    /// Returns the size of the range of physical unit numbers, including unused numbers between superblocks.
    pub(crate) fn numbers(&self) -> usize {
        (self.superblocks as usize) << self.shift
    }

    /// Returns the number of units of the host and of the mapping table.
    pub(crate) fn table_units(&self) -> u64 {
        self.logical_units + u64::from(self.mapping_units)
    }

    /// Returns the page number of unit `index` of `superblock`.
    #[inline]
    pub(crate) fn page_at(&self, superblock: u32, index: u32) -> u64 {
        (u64::from(superblock) << self.shift) + u64::from(index)
    }

    /// Returns the superblock of `page`, and the number of the unit in the superblock.
    #[inline]
    pub(crate) fn place_at(&self, page: u64) -> (u32, u32) {
        ((page >> self.shift) as u32, (page & ((1 << self.shift) - 1)) as u32)
    }

    /// Returns the number of units in all superblocks.
    #[cfg(test)]
    pub(crate) fn physical_units(&self) -> u64 {
        u64::from(self.superblocks) * u64::from(self.units_per_superblock)
    }

    /// Returns the first and last unit of a request.
    #[inline]
    pub(crate) fn units_of(&self, request: &Request) -> (u64, u64) {
        let last = request.address + u64::from(request.bytes.max(1)) - 1;
        (request.address >> self.unit_shift, last >> self.unit_shift)
    }

    /// Returns the usable capacity in bytes.
    pub(crate) fn capacity(&self) -> u64 {
        self.logical_units * u64::from(self.unit_bytes)
    }

    /// Returns the number of planes of all dies.
    pub(crate) fn lanes(&self) -> u32 {
        self.dies * self.planes
    }

    /// Returns the number of blocks of a superblock.
    pub(crate) fn blocks_per_superblock(&self) -> u32 {
        self.lanes() / self.regions * self.blocks_of_plane
    }

    /// Returns the size of a superblock in bytes, including parity.
    pub(crate) fn bytes_per_superblock(&self) -> u64 {
        let pages = u64::from(self.blocks_per_superblock()) * u64::from(self.pages_per_block);
        pages * u64::from(self.units_per_page) * u64::from(self.unit_bytes)
    }

    /// Returns the number of blocks of a superblock that a die erases together.
    pub(crate) fn blocks_per_die(&self) -> u32 {
        if self.is_by_plane() { 1 } else { self.planes }
    }

    /// Returns whether every plane is a region.
    #[inline]
    pub(crate) fn is_by_plane(&self) -> bool {
        self.is_by_plane
    }

    /// Returns whether the drive has several regions, which are planes or reclaim groups.
    #[inline]
    pub(crate) fn has_regions(&self) -> bool {
        self.regions > 1
    }

    /// Returns the region of `superblock`.
    #[inline]
    pub(crate) fn region_of(&self, superblock: u32) -> usize {
        if self.has_regions() { (superblock / self.superblocks_of_region) as usize } else { 0 }
    }

    /// Returns the maximum number of units per region if the pages of `units` units are spread evenly over
    /// the regions.
    pub(crate) fn units_of_region(&self, units: u64) -> u64 {
        if !self.has_regions() {
            return units;
        }
        let of_page = u64::from(self.units_per_page);
        units.div_ceil(of_page).div_ceil(self.regions.into()) * of_page
    }

    /// Returns whether `unit` and the preceding unit share an operation in a drive that was filled
    /// sequentially.
    #[inline]
    pub(crate) fn shares_a_page_with_last(&self, unit: u64) -> bool {
        !self.is_by_plane() || !unit.is_multiple_of(self.units_per_page.into())
    }

    /// Returns the die of the plane `region`, or the first die of the reclaim group `region`.
    #[inline]
    pub(crate) fn die_of(&self, region: usize) -> u32 {
        if self.is_by_plane { region as u32 / self.planes } else { region as u32 * self.dies_of_superblock() }
    }

    /// Returns the dies of `superblock`.
    pub(crate) fn dies_of(&self, superblock: u32) -> Range<u32> {
        let first = self.die_of(self.region_of(superblock));
        first..first + self.dies_of_superblock()
    }

    /// Returns the number of dies that a superblock spans.
    #[inline]
    pub(crate) fn dies_of_superblock(&self) -> u32 {
        self.by_dies_of_superblock.by
    }

    /// Returns the number of an operation in its superblock, given its number among the data operations.
    #[inline]
    fn operation_in(&self, place: u32) -> u32 {
        match &self.stripes {
            None => place,
            Some(stripes) => stripes.operation_of(place),
        }
    }

    /// Splits `units` of data into whole data operations and remaining units. For a unit number, the result
    /// is the data operation and the position of the unit in the operation.
    #[inline]
    pub(crate) fn operations_of(&self, units: u32) -> (u32, u32) {
        self.by_operation.divide(units)
    }

    /// Returns the lane that holds unit `index` of a superblock in cell mode `cells`, counted from the
    /// first lane of the superblock.
    pub(crate) fn lane_of(&self, index: u32, cells: Cells) -> u32 {
        if self.is_by_plane() {
            return 0;
        }
        let (place, within) = self.by_operation.divide(index);
        let (row, die) = self.by_dies_of_superblock.divide(self.operation_in(place));
        self.lane_at(row, die, within, cells)
    }

    /// Returns the planes of the die that hold `units` units, starting with unit `index` of `superblock`.
    pub(crate) fn planes_of(&self, superblock: u32, index: u32, units: u32) -> Range<u32> {
        let lane = match self.is_by_plane() {
            true => self.region_of(superblock) as u32,
            // The plane is the same in all cell modes.
            false => self.lane_of(index, Cells::Full),
        };
        let first = lane % self.planes;
        first..(first + self.pages_of(units)).min(self.planes)
    }

    /// Returns the lane that holds the unit at position `within` of `operation` in cell mode `cells`,
    /// counted from the first lane of the superblock.
    pub(crate) fn lane_within(&self, operation: u32, within: u32, cells: Cells) -> u32 {
        let (row, die) = self.by_die.divide(operation);
        self.lane_at(row, self.by_dies_of_superblock.divide(die).1, within, cells)
    }

    /// Returns the lane of the unit at position `within` of an operation. `row` is the row of the
    /// operation. `die` is the position of its die among the dies of the superblock.
    fn lane_at(&self, row: u32, die: u32, within: u32, cells: Cells) -> u32 {
        let by_block = match cells {
            Cells::Full => &self.by_block,
            Cells::Single => &self.by_single_block,
        };
        let (page, first_plane) = self.by_row.divide(row);
        // Planes that are programmed together share an operation. Otherwise, the operations of the planes have
        // consecutive numbers.
        let plane = self.by_page.divide(within).0 + first_plane;
        let lanes = self.dies_of_superblock() * self.planes;
        by_block.divide(page).0 * lanes + die * self.planes + plane
    }

    /// Returns the operation that contains unit `index` of `superblock`.
    #[inline(always)]
    pub(crate) fn operation_of(&self, superblock: u32, index: u32) -> u32 {
        self.operation_at(superblock, self.by_operation.divide(index).0)
    }

    /// Returns the superblock of `unit`, and the number of the unit in the superblock, in a drive that was
    /// filled sequentially. Reclaim groups are used in rotation.
    #[inline]
    pub(crate) fn place_in_order(&self, unit: u64) -> (u32, u32) {
        let (superblock, index) = self.by_superblock.divide_wide(unit);
        (superblock as u32 % self.regions * self.superblocks_of_region, index)
    }

    /// Returns the operation of `unit` in a drive that was filled sequentially.
    #[inline]
    pub(crate) fn operation_in_order(&self, unit: u64) -> u32 {
        let (superblock, index) = self.place_in_order(unit);
        self.operation_of(superblock, index)
    }

    /// Returns the operation of `superblock` with the number `place` among the data operations.
    #[inline(always)]
    pub(crate) fn operation_at(&self, superblock: u32, place: u32) -> u32 {
        if self.is_in_order {
            return place;
        }
        self.operation_by_place(superblock, self.operation_in(place))
    }

    /// Returns the operation of `superblock` with the number `place` among all operations.
    #[inline(always)]
    pub(crate) fn operation_by_place(&self, superblock: u32, place: u32) -> u32 {
        // If superblocks span all dies, the quotient is 0.
        let (part, _) = self.by_superblocks_of_dies.divide(superblock);
        let (row, die) = self.by_dies_of_superblock.divide(place);
        row * self.dies + part * self.dies_of_superblock() + die
    }

    /// Returns whether `operation` is the first of its superblock.
    #[inline]
    pub(crate) fn is_first(&self, operation: u32) -> bool {
        operation < self.dies && self.by_dies_of_superblock.divide(operation).1 == 0
    }

    /// Returns the number of data units that all dies program simultaneously. With allocation by plane, this
    /// is one operation.
    pub(crate) fn units_at_once(&self) -> u32 {
        let operations = match &self.stripes {
            _ if self.is_by_plane() => 1,
            None => self.dies_of_superblock(),
            Some(stripes) => self.dies_of_superblock() / stripes.size * stripes.of_data(),
        };
        self.operation_units * operations
    }

    /// Returns the number of superblocks with blocks on a given die.
    fn superblocks_of_die(&self) -> u32 {
        self.by_superblocks_of_dies.by
    }

    /// Returns the first superblock with blocks on `die`.
    #[inline]
    fn first_superblock(&self, die: u32) -> u32 {
        self.by_dies_of_superblock.divide(die).0 * self.superblocks_of_die()
    }

    /// Returns the number of operations of all superblocks on one die.
    pub(crate) fn operations_per_die(&self) -> usize {
        self.superblocks_of_die() as usize * self.rows() as usize
    }

    /// Returns the number of operations of one superblock on one die.
    #[inline]
    fn rows(&self) -> u32 {
        self.blocks_of_plane * self.pages_per_block * self.by_row.by
    }

    /// Returns the number of an operation among the operations of its die.
    #[inline]
    pub(crate) fn number_on_die(&self, superblock: u32, operation: u32) -> u32 {
        let (row, die) = self.by_die.divide(operation);
        (superblock - self.first_superblock(die)) * self.rows() + row
    }

    /// Returns the page and the plane of the operation whose [`Geometry::number_on_die`] is `number`, for
    /// allocation by plane.
    pub(crate) fn page_and_plane(&self, number: u32) -> (u32, u32) {
        (number % self.rows(), number / self.rows() / self.superblocks_of_region)
    }

    /// Returns the superblock and the operation whose [`Geometry::number_on_die`] on `die` is `number`.
    pub(crate) fn of_number_on_die(&self, number: u32, die: u32) -> (u32, u32) {
        let (superblock, row) = (number / self.rows(), number % self.rows());
        (superblock + self.first_superblock(die), row * self.dies + die)
    }

    /// Returns the operations that precede `operation` on its word line of `pages` pages, on the same planes
    /// of the superblock.
    pub(crate) fn word_line_before(&self, operation: u32, pages: usize) -> impl Iterator<Item = u32> {
        let (row, die) = self.by_die.divide(operation);
        let (page, planes) = self.by_row.divide(row);
        let (rows, dies) = (self.by_row.by, self.dies);
        let in_block = self.by_block.divide(page).1;
        (page - in_block % pages as u32..page).map(move |page| (page * rows + planes) * dies + die)
    }

    /// Returns the location of an operation of a superblock that is not in SLC mode.
    #[inline]
    pub(crate) fn spot(&self, operation: u32) -> Spot {
        let (row, die) = self.by_die.divide(operation);
        let page = self.by_block.divide(self.by_row.divide(row).0).1;
        Spot { die, page, cells: Cells::Full }
    }

    /// Returns the number of pages of one operation that hold `units` consecutive units.
    #[inline]
    pub(crate) fn pages_of(&self, units: u32) -> u32 {
        self.by_page.divide(units + self.units_per_page - 1).0
    }
}
