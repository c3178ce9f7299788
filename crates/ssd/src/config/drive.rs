//! Settings that every flash drive has: flash, channels, buffer, and how the host reaches it.

use crate::scheduling::Scheduling;
use nacre_config::{Choice, Configuration, Slot};
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

/// Settings of flash drives, however they find data.
#[derive(Clone, Debug, Configuration)]
pub struct Drive {
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
    /// Pages of a plane that a die holds while the host reads: the one it senses, and those that cross the channel or wait
    /// for it. With one a die does nothing while a page crosses: it has no cached commands. Absent means as many as are
    /// asked for.
    #[config(min = 1, max = 64)]
    pub registers: Option<u32>,
    /// What crosses a channel next.
    #[config(
        default = "commands_first",
        source = "assumed: a command is short, and a die does nothing before it has one"
    )]
    pub arbitration: Arbitration,
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
    /// Whether the erased superblock with the fewest erases is filled first; otherwise the one erased first.
    #[config(default = true, source = "assumed: usual in drives")]
    pub youngest_first: bool,
    /// DRAM that buffers writes.
    #[config(min = "512 B", max = "1 TiB")]
    pub buffer: Bytes,
    /// Which write leaves its place in a full buffer.
    #[config(default = "ring", source = "assumed: data is taken in and programmed in one order")]
    pub buffer_places: BufferPlaces,
    /// Bytes of one mapping.
    #[config(default = "4 B", min = "1 B", max = "64 B", source = "assumed: 32 bits, up to 16 TiB")]
    pub mapping_entry: Bytes,
    /// Which of the operations that wait for a die is next.
    #[config(default = "read_priority", source = "assumed: usual in drives")]
    pub scheduling: Scheduling,
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
    /// Price of what the host sees.
    pub price: Option<Price>,
    /// What the price is counted in, such as "USD 2023"; prices counted in different things are not added up.
    pub price_basis: Option<String>,
}

impl Drive {
    pub(crate) fn dies_in_all(&self) -> u64 {
        u64::from(self.channels) * u64::from(self.ways)
    }

    /// Bytes of all the flash, spare blocks included.
    pub(crate) fn raw_bytes(&self) -> u64 {
        let pages = self.dies_in_all() * u64::from(self.planes) * u64::from(self.pages);
        pages * u64::from(self.blocks) * self.page.0
    }

    /// Mappings that a unit of the mapping table has.
    pub(crate) fn mappings_per_unit(&self) -> u64 {
        self.unit.0 / self.mapping_entry.0
    }
}
