//! Allocation of host data to the flash.

use nacre_config::{Choice, Configuration, Kinds};

/// Allocation of host data to the flash.
#[derive(Clone, Debug, Kinds)]
pub enum Allocation {
    /// To the next die in turn, in superblocks of one block of every plane of every die.
    ///
    /// A superblock is one block of every plane of every die. Full operations (one page of every plane, with
    /// multi-plane commands) go to the dies round robin: to the next channel each time, and to the next die of each
    /// channel after all channels. A stripe uses all dies at once, one parity page covers it, and one erase count and
    /// one list of valid units serve thousands of blocks. The disadvantage is a coarser choice of victims.
    ///
    /// *Parity* (`parity`; Micron's RAIN, SandForce's RAISE): `stripe` consecutive operations of a superblock, each
    /// on a different die, form a stripe. One of them programs parity over the others, unit by unit. The parity moves
    /// to the next die with every row of dies. It takes a share of 1 / `stripe` of the flash from over-provisioning.
    ///
    /// - The parity of a stripe is programmed after its last data, with time, energy, and wear. It counts in write
    ///   amplification. Until then, the drive keeps it in separate memory, which capacitors protect with the buffer.
    ///   A superblock that is closed early ends with a shorter stripe.
    /// - An uncorrectable unit is rebuilt. The units at its position in the other operations of the stripe are read
    ///   from their dies in parallel, with read retries if necessary, and decoded. Units that are still in the
    ///   drive's memory are not read. If one of these units is uncorrectable, too, the unit is lost. Copies of
    ///   garbage collection are rebuilt like reads of the host.
    /// - Without `power_protected`, recovery computes the parity of partly filled stripes from their pages.
    /// - Counters report the parity units, the rebuilt units, the reads for rebuilds, and the units that are lost
    ///   despite parity.
    ///
    /// Not modeled:
    ///
    /// - Stripes longer than the number of dies, several parity pages per stripe, and failures of whole dies or
    ///   blocks.
    /// - A rebuilt unit is not rewritten. The next read rebuilds it again, until the unit is written or
    ///   garbage-collected. Units in the same page are rebuilt separately.
    /// - Computing parity takes no time, and its memory is not part of `buffer`.
    /// - If garbage collection copies a unit that must be rebuilt, the other units are read in parallel with it, not
    ///   after it.
    /// - After a power loss of a drive without capacitors, stripes with an interrupted program count as complete, and
    ///   pages that it damaged are not rebuilt.
    Superblock(Superblock),
    /// To the plane given by the address; each plane has its own garbage collection.
    ///
    /// Each plane has its own write frontiers, erased blocks, garbage collection, and wear leveling. Everything that
    /// is described for superblocks holds for its blocks. The address of a page determines its plane, in the order of
    /// `order`, as in MQSim. Requests for one die wait there, even if other dies are idle.
    ///
    /// A page is programmed when its units are complete. With `multi_plane`, pages with the same number in other
    /// planes that wait for the die are programmed with it, if they have no unfinished prerequisites. With
    /// `copyback`, garbage collection copies pages within their die: only their commands cross the channel, and bit
    /// errors are not corrected.
    ///
    /// Not modeled:
    ///
    /// - Static allocation of channels or ways alone.
    /// - Multi-plane reads for copies and multi-plane erases: the planes of a die perform them one after the other.
    /// - The register that holds a copy inside a die is available to reads in between.
    /// - Parity: a plane erases its blocks alone, while the others of a stripe need them for rebuilds.
    Static(Static),
    /// To the die that is free first; each plane has its own garbage collection.
    ///
    /// Each plane has its own write frontiers, erased blocks, garbage collection, and wear leveling. Everything that
    /// is described for superblocks holds for its blocks. A page goes to the die that is free first, and there to its
    /// planes in turn.
    ///
    /// A page is programmed when its units are complete. With `multi_plane`, pages with the same number in other
    /// planes that wait for the die are programmed with it, if they have no unfinished prerequisites. With
    /// `copyback`, garbage collection copies pages within their die: only their commands cross the channel, and bit
    /// errors are not corrected.
    ///
    /// Not modeled:
    ///
    /// - Multi-plane reads for copies and multi-plane erases: the planes of a die perform them one after the other.
    /// - The register that holds a copy inside a die is available to reads in between.
    /// - Parity: a plane erases its blocks alone, while the others of a stripe need them for rebuilds.
    Dynamic(Dynamic),
}

/// Superblocks over all dies.
#[derive(Clone, Debug, Configuration)]
pub struct Superblock {
    /// Parity within superblocks, like Micron's RAIN and SandForce's RAISE: uncorrectable units are rebuilt
    /// from the other dies. It takes its share of the flash from over-provisioning. Absent means no parity.
    pub parity: Option<Parity>,
    /// Size of a superblock, which is the reclaim unit of flexible data placement, in blocks per plane: with 4,
    /// four blocks of every plane are filled, garbage-collected, and erased together.
    #[config(default = 1, min = 1, max = 1024, source = "assumed: the smallest unit over all dies")]
    pub reclaim_unit: u32,
    /// Number of reclaim groups, each with an equal share of the dies: a superblock spans the dies of its group,
    /// and garbage collection keeps data in its group. Must divide the number of dies.
    #[config(default = 1, min = 1, max = 65536, source = "assumed: superblocks over all dies")]
    pub reclaim_groups: u32,
}

/// Parity over pages of different dies.
#[derive(Clone, Debug, Configuration)]
pub struct Parity {
    /// Dies of a stripe, including one for parity: with 8 (7 + 1), 1/8 of the flash is parity. Must divide
    /// the number of dies; absent means all dies.
    #[config(min = 2, max = 1048576)]
    pub stripe: Option<u32>,
}

/// Order in which consecutive pages are distributed, fastest first: the letters of channel, way, and plane.
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
    /// Positions of channels, ways, and planes in this order, fastest first.
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

/// Pages by their address.
#[derive(Clone, Debug, Configuration)]
pub struct Static {
    /// Order in which consecutive pages are distributed, fastest first: the letters of channel (C), way (W),
    /// and plane (P). A way has one die, so MQSim's D is omitted.
    #[config(default = "cwp", source = "tavakkol-2018: MQSim's own settings")]
    pub order: Order,
    /// Whether garbage collection copies pages inside their die: only commands cross the channel, and bit
    /// errors are not corrected. Requires `unit` = `page`.
    #[config(default = false, source = "assumed: controllers correct copied data")]
    pub copyback: bool,
}

/// Pages to the die that is free first.
#[derive(Clone, Debug, Configuration)]
pub struct Dynamic {
    /// Whether garbage collection copies pages inside their die: only commands cross the channel, and bit
    /// errors are not corrected. Requires `unit` = `page`.
    #[config(default = false, source = "assumed: controllers correct copied data")]
    pub copyback: bool,
}

impl Allocation {
    /// Settings of superblocks over all dies; `None` with allocation by plane.
    fn superblock(&self) -> Option<&Superblock> {
        match self {
            Allocation::Superblock(of) => Some(of),
            Allocation::Static(_) | Allocation::Dynamic(_) => None,
        }
    }

    /// Whether each plane has its own write frontiers and garbage collection.
    pub(crate) fn is_by_plane(&self) -> bool {
        self.superblock().is_none()
    }

    /// Whether garbage collection copies pages inside their plane.
    pub(crate) fn copies_inside(&self) -> bool {
        match self {
            Allocation::Superblock(_) => false,
            Allocation::Static(of) => of.copyback,
            Allocation::Dynamic(of) => of.copyback,
        }
    }

    /// Number of reclaim groups; 1 with allocation by plane.
    pub(crate) fn reclaim_groups(&self) -> u32 {
        self.superblock().map_or(1, |of| of.reclaim_groups)
    }

    /// Blocks of a superblock in each of its planes.
    pub(crate) fn reclaim_unit(&self) -> u32 {
        self.superblock().map_or(1, |of| of.reclaim_unit)
    }

    /// Operations of a stripe, including parity, if superblocks span this many `dies`; `None` without parity.
    pub(crate) fn stripe(&self, dies: u32) -> Option<u32> {
        Some(self.superblock()?.parity.as_ref()?.stripe.unwrap_or(dies))
    }
}
