//! Settings of every flash drive: flash, channels, buffer, and host interface.

use super::{FlashScheduling, Queue};
use nacre_config::{Choice, Configuration, Slot};
use nacre_controller::host_interface::HostInterfaceFamily;
use nacre_kernel::{Bandwidth, Bytes, Price, Ratio, Time};
use nacre_media::flash::Nand;

/// Source of the data when the host reads a unit that was never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Unwritten {
    /// The read costs the same as on a drive that was filled in order.
    Flash,
    /// The drive returns zeros without a flash access.
    Zeros,
}

/// Order of transfers on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Arbitration {
    /// The oldest transfer is first: a read command, a page that was read, or data to be programmed.
    FirstCome,
    /// Read commands are first, so that no die is idle while a page is transferred.
    CommandsFirst,
    /// Pages of host reads are first, as in MQSim.
    PagesFirst,
    /// Commands and pages of host reads are sent before data to be programmed or copied.
    ReadsFirst,
}

/// Order in which the drive frees buffer space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum BufferPlaces {
    /// The drive frees space in the order of allocation (a ring).
    Ring,
    /// The drive frees space in the order in which programs end.
    Pool,
}

/// Settings of every flash drive, with page mapping or zones.
#[derive(Clone, Debug, Configuration)]
pub struct Drive {
    /// Number of channels, each with a separate bus.
    #[config(min = 1, max = 1024)]
    pub channels: u32,
    /// Dies per channel.
    #[config(min = 1, max = 1024)]
    pub ways: u32,
    /// Planes per die.
    #[config(default = 1, min = 1, max = 64, source = "assumed: the simplest die")]
    pub planes: u32,
    /// Blocks per plane.
    #[config(min = 8, max = 1048576)]
    pub blocks: u32,
    /// Pages per block.
    #[config(min = 1, max = 65536)]
    pub pages: u32,
    /// Size of a page in bytes. A plane reads or programs one page at a time.
    #[config(min = "512 B", max = "1 MiB")]
    pub page: Bytes,
    /// Size of a mapping unit (LPN). A smaller write first reads the rest of its unit.
    #[config(
        default = "4 KiB",
        min = "512 B",
        max = "1 MiB",
        source = "assumed: the page size of common hosts"
    )]
    pub unit: Bytes,
    /// Flash timing, energy, and endurance.
    #[config(flatten)]
    pub nand: Nand,
    /// Maximum number of dies that erase at the same time, while the other dies continue to program; by
    /// default, all.
    #[config(min = 1, max = 1048576)]
    pub erases_at_once: Option<u32>,
    /// Maximum number of dies that program at the same time, e.g. because of a power budget; by default,
    /// all.
    #[config(min = 1, max = 1048576)]
    pub programs_at_once: Option<u32>,
    /// Bandwidth of a channel.
    #[config(min = "1 kB/s")]
    pub bus: Bandwidth,
    /// Smallest part of a unit that crosses the channel, e.g. a sector or a codeword. A read transfers only the
    /// parts that it needs, and a program omits parts that were never written. The default is whole units.
    #[config(min = "64 B", max = "1 MiB")]
    pub transfer: Option<Bytes>,
    /// Channel time of the command and the address of each page that is read or programmed.
    #[config(
        default = "300 ns",
        max = "1 ms",
        source = "assumed: seven cycles of 40 ns, as in the ONFI 2 command sets"
    )]
    pub command: Time,
    /// Whether one multi-plane command programs, erases, or reads (for copies) all planes of a die. With
    /// allocation by plane, the die programs waiting pages with equal page numbers together.
    #[config(default = true, source = "assumed: every die with planes can")]
    pub multi_plane: bool,
    /// Number of page registers per plane for host reads. A register holds a page that is sensed,
    /// transferred, or waiting for the channel. With one register (no cached commands), a die is idle during
    /// the transfer. Unlimited by default.
    #[config(min = 1, max = 64)]
    pub registers: Option<u32>,
    /// Order of transfers on a channel.
    #[config(default = "commands_first", source = "assumed: commands are short, and a die waits for them")]
    pub arbitration: Arbitration,
    /// Flash beyond the usable capacity, as a share of the usable capacity. Space that the workload never
    /// writes acts as extra over-provisioning.
    #[config(
        default = "28 %",
        min = "0.1 %",
        max = "10000 %",
        source = "assumed: 128 GiB of flash in a drive of 100 GiB"
    )]
    pub over_provisioning: Ratio,
    /// Number of spare blocks per plane. Spare blocks replace bad blocks.
    #[config(default = 0, max = 1048576, source = "assumed: no bad blocks by default")]
    pub spare_blocks: u32,
    /// Share of blocks that are bad in a new drive.
    #[config(default = "0 %", max = "20 %", source = "assumed: none by default")]
    pub factory_bad: Ratio,
    /// Whether the drive first writes the erased superblock with the fewest erases. If not, the drive first
    /// writes the superblock that was erased first.
    #[config(default = true, source = "assumed: usual in drives")]
    pub youngest_first: bool,
    /// Size of the DRAM write buffer.
    #[config(min = "512 B", max = "1 TiB")]
    pub buffer: Bytes,
    /// Order in which the drive frees buffer space.
    #[config(default = "ring", source = "assumed: data is buffered and programmed in one order")]
    pub buffer_places: BufferPlaces,
    /// Order of the operations that wait for a die.
    #[config(default = "read_priority", source = "assumed: usual in drives")]
    pub scheduling: FlashScheduling,
    /// Host interface. The driver and the link of the host interface replace the settings `driver`, `cpus`,
    /// and `link`. By default, these settings apply.
    pub host: Option<Slot<HostInterfaceFamily>>,
    /// Bandwidth of the link to the host, in each direction.
    #[config(min = "1 kB/s")]
    pub link: Bandwidth,
    /// CPU time of the host driver per request.
    #[config(default = "0 s", max = "1 s", source = "assumed: no host cost by default")]
    pub driver: Time,
    /// Number of CPUs that run the driver.
    #[config(default = 16, min = 1, max = 1024, source = "assumed: enough that no request waits")]
    pub cpus: u32,
    /// Number of processors of the drive.
    #[config(default = 1, min = 1, max = 1024, source = "assumed: the simplest controller")]
    pub processors: u32,
    /// Processor time of the drive per request.
    #[config(default = "0 s", max = "1 s", source = "assumed: overlapped by default")]
    pub firmware: Time,
    /// CPU time of the host driver to translate the addresses of a request, as in some early PCIe drives.
    /// Other drives translate addresses themselves, and `firmware` includes this time.
    #[config(default = "0 s", max = "1 s", source = "assumed: drives translate themselves")]
    pub translation: Time,
    /// Limit on the number of requests that the drive processes at the same time.
    #[config(default = "unlimited", source = "assumed: the queues of the host are the limit")]
    pub queue: Queue,
    /// Source of the data when the host reads a unit that was never written.
    #[config(default = "flash", source = "assumed: benchmarks use full drives")]
    pub unwritten: Unwritten,
    /// Price per usable capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
}

impl Drive {
    pub(crate) fn dies_in_all(&self) -> u64 {
        u64::from(self.channels) * u64::from(self.ways)
    }

    /// Returns the number of bytes of all flash, including spare blocks.
    pub(crate) fn raw_bytes(&self) -> u64 {
        let pages = self.dies_in_all() * u64::from(self.planes) * u64::from(self.pages);
        pages * u64::from(self.blocks) * self.page.0
    }
}
