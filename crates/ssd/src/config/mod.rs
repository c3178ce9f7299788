//! The configuration of an SSD.

mod check_sizes;
mod checks;
mod errors;
mod mapping_cache;
mod parity;
mod share;
mod shares;
mod zone_checks;
mod zones;

pub(crate) use checks::share_problem;
pub use errors::ErrorsConfig;
pub use mapping_cache::{Cached, MappingCacheConfig};
pub use parity::ParityConfig;
pub(crate) use shares::percent;
pub use zones::ZonesConfig;

use nacre_config::{Choice, Configuration, Slot};
use nacre_controller::cleaning::CleaningFamily;
use nacre_controller::host_interface::HostInterfaceFamily;
use nacre_kernel::{Bandwidth, Bytes, Price, Ratio, Time};
use nacre_media::flash::Nand;

/// Whose processors run the flash translation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Translator {
    /// Those of the drive.
    Device,
    /// Those of the host, in its driver.
    Host,
}

/// The letters of an order of allocation: channel, way, die and plane.
pub(crate) const LETTERS: &str = "CWDP";

/// Where a page of the host's data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Allocation {
    /// To the next die in turn: superblocks, a block of every plane of every die, are filled in stripes and cleaned.
    Superblock,
    /// To the plane that its address says, in the order of `allocation_order`. Each plane is filled and cleaned by itself.
    Static,
    /// To a plane of the die that is free first. Each plane is filled and cleaned by itself.
    Dynamic,
}

/// Whose data fills a superblock together when cleaning moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Isolation {
    /// That of all placement handles: they are apart until they are moved.
    Initial,
    /// That of one placement handle.
    Persistent,
}

/// What a read of a unit takes that was never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Unwritten {
    /// What it would take if the drive had been filled in order.
    Flash,
    /// No access to the flash: the drive knows that it is zero.
    Zeros,
}

/// What crosses a channel next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Arbitration {
    /// Whatever waited longest: commands of reads, pages that were read, data to be programmed.
    FirstCome,
    /// Commands of reads before all else, so that dies never stand idle behind a page.
    CommandsFirst,
    /// Pages that the host reads before all else, as in MQSim.
    PagesFirst,
    /// Commands and pages of the host's reads before data to be programmed or copied.
    ReadsFirst,
}

/// Which write leaves its place in a buffer that is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum BufferPlaces {
    /// The one that took its place first: places go round.
    Ring,
    /// The one whose program ends first.
    Pool,
}

/// Cells that the host fills with one bit each.
#[derive(Clone, Debug, Configuration)]
pub struct SlcCacheConfig {
    /// The most data that lies in such cells.
    #[config(min = "512 B", max = "1 PiB")]
    pub size: Bytes,
    /// Bits that a cell holds otherwise: so much less data fits.
    #[config(
        default = 3,
        min = 2,
        max = 5,
        source = "assumed: TLC, the usual flash of drives with such a cache"
    )]
    pub bits: u32,
    /// Reading a page.
    #[config(min = "1 ps", max = "1 s")]
    pub read: Time,
    /// Programming a page.
    #[config(min = "1 ps", max = "1 s")]
    pub program: Time,
}

/// A flash SSD.
#[derive(Clone, Debug, Configuration)]
#[config(check = "crate::config::checks::check")]
pub struct Config {
    /// Channels, each a bus of its own.
    #[config(min = 1, max = 1024)]
    pub channels: u32,
    /// Dies on a channel.
    #[config(min = 1, max = 1024)]
    pub ways: u32,
    /// Planes of a die.
    #[config(default = 1, min = 1, max = 64, source = "assumed: the simplest die")]
    pub planes: u32,
    /// Blocks of a plane.
    #[config(min = 8, max = 1048576)]
    pub blocks: u32,
    /// Pages of a block.
    #[config(min = 1, max = 65536)]
    pub pages: u32,
    /// Bytes of a page: what one plane reads or programs as a whole.
    #[config(min = "512 B", max = "1 MiB")]
    pub page: Bytes,
    /// Bytes the mapping knows as a whole; a smaller write reads the rest of it.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "1 MiB",
        source = "assumed: the page size of every host we know"
    )]
    pub unit: Bytes,
    /// Its flash.
    #[config(flatten)]
    pub nand: Nand,
    /// Dies that erase at one time at most, so that the others go on programming meanwhile; absent means as many as
    /// there are.
    #[config(min = 1, max = 1048576)]
    pub erases_at_once: Option<u32>,
    /// Dies that program at one time at most, as a budget of power allows; absent means as many as there are.
    #[config(min = 1, max = 1048576)]
    pub programs_at_once: Option<u32>,
    /// Bandwidth of a channel.
    #[config(min = "1 kB/s")]
    pub bus: Bandwidth,
    /// The smallest part of a unit that crosses a channel for a read, such as a codeword; absent means that units cross as
    /// wholes.
    #[config(min = "64 B", max = "1 MiB")]
    pub transfer: Option<Bytes>,
    /// What commands and addresses take on the channel, for each page read or programmed.
    #[config(
        default = "300 ns",
        max = "1 ms",
        source = "assumed: seven cycles of 40 ns, as in the ONFI 2 command sets"
    )]
    pub command: Time,
    /// Whether all planes of a die are programmed, erased, and read for copies, at once. By plane (`allocation`) those are
    /// programmed at once whose pages wait with the same number.
    #[config(default = true, source = "assumed: every die with planes can")]
    pub multi_plane: bool,
    /// Whether planes of a die read for the host each by itself, while others do: asynchronous independent plane reads.
    #[config(default = false, source = "assumed: a command for dies that have it, from about 2020 on")]
    pub independent_plane_reads: bool,
    /// Whether a die works on one page while another crosses the channel.
    #[config(default = true, source = "assumed: cached commands are in every data sheet we know")]
    pub cached: bool,
    /// Pages of a plane that a die holds while the host reads: the one it senses, and those that cross the channel or wait
    /// for it. Absent means as many as are asked for, with `cached`, or else one.
    #[config(min = 1, max = 64)]
    pub registers: Option<u32>,
    /// What crosses a channel next.
    #[config(
        default = "commands_first",
        source = "assumed: a command is short, and a die does nothing before it has one"
    )]
    pub arbitration: Arbitration,
    /// Where a page of the host's data goes. By plane, what is said of superblocks holds for the blocks of each plane.
    #[config(default = "superblock", source = "assumed: usual in drives for servers")]
    pub allocation: Allocation,
    /// What changes from one page to the next where the address says its plane, the fastest first: the letters of
    /// channel, way, die and plane, as in MQSim. A way has one die here, so that the place of D changes nothing. Absent
    /// means CWDP.
    pub allocation_order: Option<String>,
    /// Whether cleaning copies a page inside its die, so that commands alone cross the channel and nothing corrects it. By
    /// plane (`allocation`), with units of a page.
    #[config(default = false, source = "assumed: controllers correct what they copy")]
    pub copyback: bool,
    /// Bytes that the host sees, if that is less than the whole drive: a share of a pool of such drives, with as many blocks
    /// of each plane as it takes, and its part of `spare_blocks`, `mapping_cache`, `slc_cache` and `idle_power`.
    /// Absent means the whole drive.
    #[config(min = "512 B")]
    pub capacity: Option<Bytes>,
    /// Flash beyond what the host sees, as a share of what it sees. What the workload never writes is spare space, too.
    #[config(
        default = "28 %",
        min = "0.1 %",
        max = "10000 %",
        source = "assumed: 128 GiB of flash in a drive of 100 GiB"
    )]
    pub over_provisioning: Ratio,
    /// Blocks of each plane that stand in for others when they are bad.
    #[config(default = 0, max = 1048576, source = "assumed: no blocks go bad unless told otherwise")]
    pub spare_blocks: u32,
    /// Share of the blocks that are bad from the start.
    #[config(default = "0 %", max = "20 %", source = "assumed: none unless told otherwise")]
    pub factory_bad: Ratio,
    /// Erased superblocks (a block of every plane) below which cleaning begins.
    #[config(
        default = 4,
        min = 4,
        max = 4096,
        source = "assumed: one for the host, one for cleaning, one for wear levelling, one in hand"
    )]
    pub reserve: u32,
    /// Erased superblocks up to which cleaning goes on while the host is quiet; a request stops it, and it keeps pace with
    /// writes only below `reserve`. Absent means there is no cleaning without writes.
    #[config(min = 5, max = 1048576)]
    pub idle_cleaning: Option<u32>,
    /// What is cleaned.
    #[config(default = "greedy", source = "assumed: what simulators of SSDs do where nothing else is said")]
    pub cleaning: Slot<CleaningFamily>,
    /// Whether the erased superblock with the fewest erases is filled first; otherwise the one erased first.
    #[config(default = true, source = "assumed: usual in drives")]
    pub youngest_first: bool,
    /// Difference of erases from which cold data moves to worn superblocks; 0 is never.
    #[config(default = 0, max = 4294967295, source = "assumed: off unless told otherwise")]
    pub wear_spread: u32,
    /// DRAM that buffers writes.
    #[config(min = "512 B", max = "1 TiB")]
    pub buffer: Bytes,
    /// Which write leaves its place in a full buffer.
    #[config(default = "ring", source = "assumed: data is taken in and programmed in one order")]
    pub buffer_places: BufferPlaces,
    /// Cells that the host fills with one bit each while erased superblocks abound; absent means none.
    pub slc_cache: Option<SlcCacheConfig>,
    /// Share of the buffer that is kept back to be changed there; beyond it data is programmed at once.
    #[config(default = "0 %", max = "90 %", source = "assumed: drives program as soon as they can")]
    pub buffer_kept: Ratio,
    /// Whether the buffer survives a power failure. Where not, a flush programs it.
    #[config(default = true, source = "assumed: usual in drives for servers")]
    pub power_protected: bool,
    /// Whether a program that loses its power damages the pages before it on its word line, which has as many pages as
    /// `program` has times. Where not, the drive keeps copies of them until the word line is full.
    #[config(default = false, source = "assumed: drives that promise to keep what was flushed keep copies")]
    pub paired_page_loss: bool,
    /// Data that is programmed between two checkpoints of the mapping: after a loss of power what was programmed
    /// since is found by its spare areas.
    #[config(
        default = "1 GiB",
        min = "512 B",
        max = "1 PiB",
        source = "assumed: a scan of some seconds' writes, as drives are ready within a second or two"
    )]
    pub checkpoint_every: Bytes,
    /// A mapping table in flash, a part of which is in DRAM; absent means all of it is in DRAM.
    pub mapping_cache: Option<MappingCacheConfig>,
    /// Bytes of one mapping.
    #[config(default = "4 B", min = "1 B", max = "64 B", source = "assumed: 32 bits, up to 16 TiB")]
    pub mapping_entry: Bytes,
    /// Whether a read goes before programs, erases and copies that wait for its die.
    #[config(default = true, source = "assumed: usual in drives")]
    pub read_priority: bool,
    /// What it takes to suspend a program or an erase for a read; absent means reads wait for its end.
    #[config(max = "1 s")]
    pub suspend: Option<Time>,
    /// What it takes to resume it.
    #[config(default = "0 s", max = "1 s", source = "assumed: a part of `suspend`")]
    pub resume: Time,
    /// How often one program or erase may be suspended.
    #[config(default = 8, min = 1, max = 65536, source = "assumed: so that every program ends")]
    pub suspensions: u32,
    /// How the host reaches the drive; its driver and link stand in place of `driver`, `cpus` and `link`. Absent means
    /// these.
    pub host: Option<Slot<HostInterfaceFamily>>,
    /// Bandwidth of the link to the host, each way.
    #[config(min = "1 kB/s")]
    pub link: Bandwidth,
    /// CPU time the host's driver takes for a request.
    #[config(default = "0 s", max = "1 s", source = "assumed: the host is free unless told otherwise")]
    pub driver: Time,
    /// CPUs that run the driver.
    #[config(default = 16, min = 1, max = 1024, source = "assumed: enough not to wait for")]
    pub cpus: u32,
    /// Whose processors run the flash translation layer.
    #[config(default = "device", source = "assumed: usual; some early PCIe drives left it to the host")]
    pub translator: Translator,
    /// Processors of the drive.
    #[config(default = 1, min = 1, max = 1024, source = "assumed: the simplest controller")]
    pub processors: u32,
    /// What a processor of the drive takes for a request, whoever translates it.
    #[config(default = "0 s", max = "1 s", source = "assumed: hidden unless told otherwise")]
    pub firmware: Time,
    /// What translation takes for a request.
    #[config(default = "0 s", max = "1 s", source = "assumed: hidden unless told otherwise")]
    pub translation: Time,
    /// What translation takes for each unit of it.
    #[config(default = "0 s", max = "1 s", source = "assumed: hidden unless told otherwise")]
    pub translation_unit: Time,
    /// Requests the drive works on at one time; absent means as many as come.
    #[config(min = 1, max = 1048576)]
    pub queue_depth: Option<u32>,
    /// Parts of `queue_depth` that each tenant of a workload has, in their order, round and round, and one place at least: no
    /// tenant takes places of another. Absent means all take what is free.
    pub queue_shares: Option<Vec<u32>>,
    /// What a read of a unit takes that was never written.
    #[config(default = "flash", source = "assumed: nobody measures an empty drive")]
    pub unwritten: Unwritten,
    /// Placement handles, as the reclaim unit handles of NVMe's flexible data placement: what is written through one fills
    /// superblocks of its own. The tenants of a workload take them in their order, round and round.
    #[config(default = 1, min = 1, max = 128, source = "assumed: a drive without placement by the host")]
    pub placement_handles: u32,
    /// Whose data fills a superblock together when cleaning moves it.
    #[config(
        default = "initial",
        source = "assumed: the lesser promise, which every drive with handles keeps"
    )]
    pub isolation: Isolation,
    /// Zones, as NVMe's zoned namespaces have them, in place of the page mapping. Absent means a drive that is written
    /// anywhere.
    pub zones: Option<ZonesConfig>,
    /// Price of what the host sees.
    pub price: Option<Price>,
    /// What the price is counted in, such as "USD 2023"; prices counted in different things are not added up.
    pub price_basis: Option<String>,
    /// Bits that go wrong, and what puts them right; absent means none do.
    pub errors: Option<ErrorsConfig>,
    /// Parity within superblocks, as Micron's RAIN and SandForce's RAISE have it: what the code does not put right is
    /// rebuilt from the other dies. It takes its share of the flash from over-provisioning. Absent means none.
    pub parity: Option<ParityConfig>,
}

impl Config {
    pub(crate) fn dies_in_all(&self) -> u64 {
        u64::from(self.channels) * u64::from(self.ways)
    }

    /// Whether planes of a die read for the host each by itself.
    pub(crate) fn reads_by_plane(&self) -> bool {
        self.independent_plane_reads && self.planes > 1
    }

    /// Whether each plane is filled and cleaned by itself.
    pub(crate) fn is_by_plane(&self) -> bool {
        self.allocation != Allocation::Superblock
    }

    /// Parts that are filled and cleaned by themselves.
    pub(crate) fn regions(&self) -> u64 {
        if self.is_by_plane() { self.dies_in_all() * u64::from(self.planes) } else { 1 }
    }

    /// What changes from one page to the next, the fastest first.
    pub(crate) fn order(&self) -> &str {
        self.allocation_order.as_deref().unwrap_or(LETTERS)
    }

    /// Dies of a stripe, that of its parity included, where there is parity.
    pub(crate) fn stripe(&self) -> Option<u32> {
        let parity = self.parity.as_ref()?;
        Some(parity.stripe.unwrap_or(self.dies_in_all() as u32))
    }

    /// Units of data of a superblock: a block of every plane of every die, or of one plane. Those of parity are not
    /// among them.
    pub(crate) fn units_per_superblock(&self) -> u64 {
        let blocks = self.dies_in_all() * u64::from(self.planes) / self.regions();
        let of_data = self.stripe().map_or(blocks, |size| blocks / u64::from(size) * u64::from(size - 1));
        of_data * u64::from(self.pages) * (self.page.0 / self.unit.0)
    }

    /// Bytes of all the flash, spare blocks included.
    pub(crate) fn raw_bytes(&self) -> u64 {
        let pages = self.dies_in_all() * u64::from(self.planes) * u64::from(self.pages);
        pages * u64::from(self.blocks) * self.page.0
    }

    /// Units the host sees: whole zones, where there are zones.
    pub(crate) fn logical_units(&self) -> u64 {
        match self.capacity {
            Some(capacity) => capacity.0 / self.unit.0,
            None => self.whole_units(),
        }
    }

    /// The same of all the flash.
    fn whole_units(&self) -> u64 {
        let units = (self.raw_bytes() as f64 / (1.0 + self.over_provisioning.0)) as u64 / self.unit.0;
        units - units % self.zone_units().unwrap_or(1)
    }

    /// Mappings that a unit of the mapping table has.
    pub(crate) fn mappings_per_unit(&self) -> u64 {
        self.unit.0 / self.mapping_entry.0
    }

    /// Units of the whole mapping table.
    pub(crate) fn mapping_units(&self) -> u64 {
        self.logical_units().div_ceil(self.mappings_per_unit())
    }

    /// Units of a zone.
    pub(crate) fn zone_units(&self) -> Option<u64> {
        self.zones.as_ref().map(|zones| u64::from(zones.superblocks) * self.units_per_superblock())
    }

    /// Whether a loss of power damages pages that were programmed before.
    pub(crate) fn loses_paired_pages(&self) -> bool {
        self.paired_page_loss && !self.power_protected && self.nand.program().len() > 1
    }

    /// Superblocks that several placement handles keep open, with those of their cleaning; 0 where there is one.
    pub(crate) fn superblocks_of_handles(&self) -> u32 {
        match (self.placement_handles, self.isolation) {
            (1, _) => 0,
            (handles, Isolation::Initial) => handles + 1,
            (handles, Isolation::Persistent) => 2 * handles,
        }
    }

    /// Bytes one operation programs.
    pub(crate) fn operation_bytes(&self) -> u64 {
        self.page.0 * if self.multi_plane && !self.is_by_plane() { u64::from(self.planes) } else { 1 }
    }

    /// Operations that are filled at one time, each of which has a place in the buffer.
    pub(crate) fn operations_filled(&self) -> u64 {
        if let Some(zones) = &self.zones {
            return u64::from(zones.active);
        }
        let handles = u64::from(self.placement_handles);
        match self.allocation {
            Allocation::Superblock => handles,
            // A page that one unit fills goes to the flash at once.
            _ if self.unit.0 == self.page.0 => 1,
            Allocation::Static => handles * self.regions(),
            Allocation::Dynamic => handles,
        }
    }
}

/// Superblocks that may be being filled.
pub(crate) const OPEN: u32 = 3;

/// The share of each tenant in `depth` places, rounded down, and one at least.
pub(crate) fn tenants_places(depth: u32, shares: &[u32]) -> Vec<u32> {
    let sum: u64 = shares.iter().map(|&share| u64::from(share)).sum();
    let part = |&share: &u32| ((u64::from(depth) * u64::from(share) / sum) as u32).max(1);
    shares.iter().map(part).collect()
}
