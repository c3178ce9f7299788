//! Allocation of host data to the flash.

use nacre_config::{Choice, Configuration, Kinds};

/// Allocation of host data to the flash.
#[derive(Clone, Debug, Kinds)]
pub enum Allocation {
    /// The drive distributes writes round robin over the dies, in superblocks that span all dies.
    ///
    /// A superblock consists of one block of every plane of every die. With multi-plane commands, an
    /// operation programs one page of every plane of a die. When an operation has all its data, the drive
    /// sends it to a die. Consecutive operations use consecutive channels. After each round over the
    /// channels, the drive continues with the next die of every channel. By default, a stripe spans all dies.
    /// One page of a stripe can hold parity. A superblock can have thousands of blocks, but the drive stores
    /// only one erase count and one list of valid units for all of them. The disadvantage is that garbage
    /// collection can select only whole superblocks as victims.
    ///
    /// *Parity* (`parity`; Micron's RAIN, SandForce's RAISE): `stripe` consecutive operations of a superblock
    /// form a stripe. Each operation of a stripe is on a different die. One operation of a stripe programs
    /// the parity of the other operations, unit by unit. With each round over all dies, the parity moves to
    /// the previous die. Parity occupies 1 / `stripe` of the flash and reduces the over-provisioning by this
    /// amount.
    ///
    /// - The drive programs the parity of a stripe after the last data of the stripe. Programming the
    ///   parity takes time and energy, causes wear, and counts toward write amplification. Until the parity
    ///   is programmed, the drive holds it in a separate memory. The capacitors that protect the buffer also
    ///   protect this memory. If a superblock is closed early, its last stripe is shorter.
    /// - The drive rebuilds an uncorrectable unit from the units at the same position in the other operations
    ///   of the stripe. The drive reads the other units from their dies in parallel, with read retries if
    ///   necessary, and decodes them. Units that are still in the drive's memory are not read from flash. If
    ///   one of the other units is also uncorrectable, the unit is lost. If garbage collection reads an
    ///   uncorrectable unit, the drive rebuilds the unit in the same way as for a host read.
    /// - Without `power_protected`, recovery computes the parity of a partly filled stripe from the pages of
    ///   the stripe.
    /// - Counters report parity units, rebuilt units, reads for rebuilds, and units that are lost despite
    ///   parity.
    ///
    /// Not modeled:
    ///
    /// - Stripes with more operations than dies, several parity pages per stripe, and failures of whole dies
    ///   or blocks.
    /// - Writing back rebuilt units. Until a unit is written or garbage-collected, every read rebuilds it
    ///   again. Units of the same page are rebuilt separately.
    /// - The time to compute parity. The memory for parity is not part of `buffer`.
    /// - The order of reads for a rebuild during garbage collection. The drive reads the other units in
    ///   parallel with the unit that must be rebuilt. A real drive reads the other units only after it has
    ///   failed to correct the unit.
    /// - Rebuilds after a power loss of a drive without capacitors. A stripe with an interrupted program
    ///   counts as complete, and pages that the power loss damaged are not rebuilt.
    Superblock(Superblock),
    /// The address of a page determines its plane; each plane has separate garbage collection.
    ///
    /// Each plane has separate write frontiers, erased blocks, garbage collection, and wear leveling. All
    /// statements about superblocks apply to the blocks of a plane. The address of a page and the setting
    /// `order` determine its plane, as in MQSim. A request waits for the die of its address, even if other
    /// dies are idle.
    ///
    /// A page is programmed when all its units have data. With `multi_plane`, the die also programs waiting
    /// pages of its other planes in the same command. Such pages must have the same page number and must not
    /// depend on unfinished operations. With `copyback`, garbage collection copies pages within their die.
    /// Only the commands of such copies cross the channel, and the drive does not correct the bit errors of
    /// the copied pages.
    ///
    /// Not modeled:
    ///
    /// - Static allocation of only the channel or only the way of a page.
    /// - Multi-plane reads for copies and multi-plane erases. The planes of a die perform these operations
    ///   one after the other.
    /// - Occupied registers. A register that holds a copy inside a die remains available to reads.
    /// - Parity. Each plane erases its blocks separately, but a rebuild needs all blocks of a stripe.
    Static(Static),
    /// Each page goes to the die that becomes free first. Each plane has separate garbage collection.
    ///
    /// Each plane has separate write frontiers, erased blocks, garbage collection, and wear leveling. All
    /// statements about superblocks apply to the blocks of a plane. A page goes to the die that is free
    /// first. Within the die, pages go to the planes in turn.
    ///
    /// A page is programmed when all its units have data. With `multi_plane`, the die also programs waiting
    /// pages of its other planes in the same command. Such pages must have the same page number and must not
    /// depend on unfinished operations. With `copyback`, garbage collection copies pages within their die.
    /// Only the commands of such copies cross the channel, and the drive does not correct the bit errors of
    /// the copied pages.
    ///
    /// Not modeled:
    ///
    /// - Multi-plane reads for copies and multi-plane erases. The planes of a die perform these operations
    ///   one after the other.
    /// - Occupied registers. A register that holds a copy inside a die remains available to reads.
    /// - Parity. Each plane erases its blocks separately, but a rebuild needs all blocks of a stripe.
    Dynamic(Dynamic),
}

/// Superblocks over all dies.
#[derive(Clone, Debug, Configuration)]
pub struct Superblock {
    /// Parity within superblocks, like Micron's RAIN and SandForce's RAISE: uncorrectable units are rebuilt
    /// from the other dies. Parity reduces the over-provisioning. By default, there is no parity.
    pub parity: Option<Parity>,
    /// Size of a superblock (the reclaim unit of flexible data placement) in blocks per plane. With 4, four
    /// blocks of every plane are filled, garbage-collected, and erased together.
    #[config(default = 1, min = 1, max = 1024, source = "assumed: the smallest unit over all dies")]
    pub reclaim_unit: u32,
    /// Number of reclaim groups, each with an equal share of the dies. A superblock spans the dies of its
    /// group, and garbage collection keeps data in its group. The number of groups must divide the number of
    /// dies.
    #[config(default = 1, min = 1, max = 65536, source = "assumed: superblocks over all dies")]
    pub reclaim_groups: u32,
}

/// Parity over pages of different dies.
#[derive(Clone, Debug, Configuration)]
pub struct Parity {
    /// Number of dies of a stripe, including one for parity. With 8 (7 + 1), 1/8 of the flash is parity. The
    /// value must divide the number of dies. The default is all dies.
    #[config(min = 2, max = 1048576)]
    pub stripe: Option<u32>,
}

/// Order of the dimensions over which consecutive pages are distributed, fastest first. C is the channel, W
/// is the way, and P is the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Order {
    /// Channels, then ways, then planes.
    Cwp,
    /// Channels, then planes, then ways.
    Cpw,
    /// Ways, then channels, then planes.
    Wcp,
    /// Ways, then planes, then channels.
    Wpc,
    /// Planes, then channels, then ways.
    Pcw,
    /// Planes, then ways, then channels.
    Pwc,
}

impl Order {
    /// Returns the dimensions in this order, fastest first: 0 for channels, 1 for ways, and 2 for planes.
    pub(crate) fn places(self) -> [usize; 3] {
        match self {
            Order::Cwp => [0, 1, 2],
            Order::Cpw => [0, 2, 1],
            Order::Wcp => [1, 0, 2],
            Order::Wpc => [1, 2, 0],
            Order::Pcw => [2, 0, 1],
            Order::Pwc => [2, 1, 0],
        }
    }
}

/// Assigns each page to a plane by its address.
#[derive(Clone, Debug, Configuration)]
pub struct Static {
    /// Order of the dimensions over which consecutive pages are distributed, fastest first: channel (C), way
    /// (W), and plane (P). MQSim's D is omitted, because a way has one die.
    #[config(default = "cwp", source = "tavakkol-2018: MQSim's own settings")]
    pub order: Order,
    /// Whether garbage collection copies pages inside their die. Only the commands then cross the channel,
    /// and bit errors are not corrected. Copies inside a die require `unit` = `page`.
    #[config(default = false, source = "assumed: controllers correct copied data")]
    pub copyback: bool,
}

/// Assigns each page to the die that is free first.
#[derive(Clone, Debug, Configuration)]
pub struct Dynamic {
    /// Whether garbage collection copies pages inside their die. Only the commands then cross the channel,
    /// and bit errors are not corrected. Copies inside a die require `unit` = `page`.
    #[config(default = false, source = "assumed: controllers correct copied data")]
    pub copyback: bool,
}

impl Allocation {
    /// Returns the settings of superblocks over all dies, or `None` with allocation by plane.
    fn superblock(&self) -> Option<&Superblock> {
        match self {
            Allocation::Superblock(of) => Some(of),
            Allocation::Static(_) | Allocation::Dynamic(_) => None,
        }
    }

    /// Returns whether each plane has separate write frontiers and garbage collection.
    pub(crate) fn is_by_plane(&self) -> bool {
        self.superblock().is_none()
    }

    /// Returns whether garbage collection copies pages inside their die.
    pub(crate) fn copies_inside(&self) -> bool {
        match self {
            Allocation::Superblock(_) => false,
            Allocation::Static(of) => of.copyback,
            Allocation::Dynamic(of) => of.copyback,
        }
    }

    /// Returns the number of reclaim groups, which is 1 with allocation by plane.
    pub(crate) fn reclaim_groups(&self) -> u32 {
        self.superblock().map_or(1, |of| of.reclaim_groups)
    }

    /// Returns the number of blocks per plane in a superblock.
    pub(crate) fn reclaim_unit(&self) -> u32 {
        self.superblock().map_or(1, |of| of.reclaim_unit)
    }

    /// Returns the number of operations in a stripe, including parity, for superblocks that span `dies` dies.
    /// Returns `None` if there is no parity.
    pub(crate) fn stripe(&self, dies: u32) -> Option<u32> {
        Some(self.superblock()?.parity.as_ref()?.stripe.unwrap_or(dies))
    }
}
