//! The configuration of an NVRAM card.

use crate::ecc::EccFamily;
use crate::host_interface::HostInterfaceFamily;
use crate::memory_scheduling::MemorySchedulingFamily;
use nacre_config::{Choice, Configuration, Reader, Slot};
use nacre_kernel::{Bandwidth, Bytes, Energy, Power, Price, Ratio, Time};
use nacre_media::charge::check_energies;
use nacre_media::dram::Part;

/// Time at which a row is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum RowPolicy {
    /// The row is closed when another row of the bank is needed, or for a refresh.
    Open,
    /// The row is closed after each access.
    Closed,
    /// The row is closed after each write. After a read, it is closed when another row is needed.
    OpenForReads,
}

/// Time at which a write completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Written {
    /// The write completes when the memory has received the data.
    InRow,
    /// The write completes when the written rows are also closed.
    Closed,
}

/// Data that a dump writes to flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Dump {
    /// The dump writes the whole memory.
    All,
    /// The dump writes only flash pages that differ from the memory.
    Changed,
}

/// Settings of an NVRAM card.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Host interface.
    #[config(default = "nvme", source = "paper: zuolo-2017 table 1, NVMe 1.1")]
    pub host: Slot<HostInterfaceFamily>,
    /// The memory part.
    #[config(flatten)]
    pub part: Part,
    /// Number of channels, each with separate data lines.
    #[config(default = 1, min = 1, max = 64, source = "paper: zuolo-2017 table 1, single channel")]
    pub channels: u32,
    /// Number of ranks per channel.
    #[config(default = 1, min = 1, max = 64, source = "assumed: the fewest")]
    pub ranks: u32,
    /// Number of chips per rank that hold data.
    #[config(
        default = 8,
        min = 1,
        max = 64,
        source = "standard: jesd79-3, 64 data lines of chips with eight"
    )]
    pub chips: u32,
    /// Number of consecutive bytes in one bank, or in one bank of each group. The default is a row of a
    /// rank.
    #[config(min = "8 B", max = "1 MiB")]
    pub interleave: Option<Bytes>,
    /// Whether consecutive bursts are in different bank groups. If they are, a burst does not wait for the
    /// previous burst in the same bank group.
    #[config(
        default = true,
        source = "assumed: DDR4 reaches its full bandwidth only with interleaved bank groups"
    )]
    pub interleave_groups: bool,
    /// Memory scheduling policy.
    #[config(default = "fr_fcfs", source = "assumed: usual in memory controllers")]
    pub scheduler: Slot<MemorySchedulingFamily>,
    /// Row policy: when a row is closed.
    #[config(default = "closed", source = "assumed: random requests rarely hit an open row")]
    pub rows: RowPolicy,
    /// Number of processors of the card.
    #[config(default = 1, min = 1, max = 1024, source = "assumed: one pipeline")]
    pub processors: u32,
    /// Processor time per command.
    #[config(default = "150 ns", max = "1 s", source = "assumed: some 40 clocks of a pipeline at 250 MHz")]
    pub processing: Time,
    /// Whether the memory loses its content without power.
    #[config(default = true, source = "standard: jesd79-3, DRAM")]
    pub volatile: bool,
    /// Time at which a write completes.
    #[config(default = "in_row", source = "assumed: the first event that a controller observes")]
    pub written: Written,
    /// Usable energy of a new capacitor. By default, the energy is sufficient and the capacitor
    /// charges instantly.
    #[config(min = "1 nJ")]
    pub capacitor: Option<Energy>,
    /// Number of hours that the capacitor has been in service.
    #[config(default = 0, max = 1000000, source = "assumed: a new card")]
    pub capacitor_hours: u64,
    /// Share of its energy that the capacitor loses per 1,000 hours of service.
    #[config(
        default = "0.35 %",
        max = "100 %",
        source = "assumed: 30 % in ten years, the end of life that makers of double-layer capacitors name"
    )]
    pub capacitor_fade: Ratio,
    /// Charging power of the capacitor.
    #[config(default = "5 W", min = "1 uW", source = "assumed: 20 % of the power of a slot")]
    pub charge_power: Power,
    /// Whether requests wait until the capacitor is charged, so that their data is safe.
    #[config(default = true, source = "assumed: necessary for the durability guarantee")]
    pub wait_for_charge: bool,
    /// Whether the capacitor may have less energy than a dump needs. Data that it cannot save is lost.
    #[config(default = false, source = "assumed: the capacitor must save all data")]
    pub may_lose_writes: bool,
    /// Data that a dump writes to flash.
    #[config(default = "all", source = "paper: zuolo-2017, the controller copies the entire DRAM content")]
    pub dump: Dump,
    /// Power of the card during a dump.
    #[config(default = "10 W", min = "1 uW", source = "assumed: less than half of the power in operation")]
    pub dump_power: Power,
    /// Time before a dump starts.
    #[config(
        default = "1 ms",
        max = "1 s",
        source = "assumed: time to detect the power loss and disconnect the host"
    )]
    pub dump_setup: Time,
    /// Size of a flash page, in bytes.
    #[config(default = "16 KiB", min = "512 B", max = "1 MiB", source = "assumed: usual for flash of 2017")]
    pub flash_page: Bytes,
    /// Program bandwidth of all flash chips together.
    #[config(
        default = "400 MB/s",
        min = "1 kB/s",
        source = "assumed: eight dies of two planes with pages of 16 KiB programmed in 650 us"
    )]
    pub flash_write: Bandwidth,
    /// Read bandwidth of all flash chips together.
    #[config(default = "1.6 GB/s", min = "1 kB/s", source = "assumed: four channels of 400 MB/s")]
    pub flash_read: Bandwidth,
    /// Error correction of the flash.
    #[config(default = "none", source = "assumed: overlapped with the flash operations")]
    pub flash_ecc: Slot<EccFamily>,
    /// Bit error rate of the flash when a dump is read back.
    #[config(
        default = "0 %",
        max = "10 %",
        source = "assumed: flash that is rarely programmed and read soon after"
    )]
    pub flash_error_rate: Ratio,
    /// Time from the return of power until the card operates.
    #[config(default = "100 ms", max = "1000 s", source = "assumed: the time that a slot allows a card")]
    pub boot: Time,
    /// Idle power, which the card uses at all times.
    pub idle_power: Option<Power>,
    /// Price per usable capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
}

impl Config {
    /// Size of a row across a rank, in bytes.
    pub(super) fn row_bytes(&self) -> u64 {
        self.part.row.0 * u64::from(self.chips)
    }

    /// Size of a burst, in bytes.
    pub(super) fn burst_bytes(&self) -> u64 {
        u64::from(self.chips) * u64::from(self.part.width) * self.part.burst / 8
    }

    /// Number of adjacent bytes in one bank.
    pub(super) fn span(&self) -> u64 {
        self.interleave.map_or(self.row_bytes(), |interleave| interleave.0)
    }

    /// Capacity visible to the host, in bytes.
    pub(super) fn capacity(&self) -> u64 {
        u64::from(self.channels) * u64::from(self.ranks) * u64::from(self.chips) * self.part.chip.0
    }

    /// Usable energy of the charged capacitor. `None` if the energy is not limited.
    pub(super) fn stored(&self) -> Option<Energy> {
        let lost = self.capacitor_fade.0 * self.capacitor_hours as f64 / 1000.0;
        self.capacitor.map(|new| Energy(new.0 * (1.0 - lost).max(0.0)))
    }
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let part = &config.part;
    if part.activate_energy.or(part.read_energy).or(part.write_energy).is_none() {
        let energies = ["activate_energy", "read_energy", "write_energy"].map(|name| (name, None));
        check_energies(reader, &energies, config.idle_power);
    }
    let part = &config.part;
    for (field, value) in [
        ("channels", config.channels),
        ("ranks", config.ranks),
        ("chips", config.chips),
        ("banks", part.banks),
        ("groups", part.groups),
        ("width", part.width),
    ] {
        if !value.is_power_of_two() {
            let remedy = format!("use {}", value.next_power_of_two());
            reader.conflict(field, &value.to_string(), "it is not a power of two", &remedy);
        }
    }
    let (span, row, burst) = (config.span(), config.row_bytes(), config.burst_bytes());
    if !span.is_power_of_two() || span > row || span < burst {
        let problem =
            format!("it is not a power of two from a burst, {}, to a row, {}", Bytes(burst), Bytes(row));
        reader.conflict("interleave", &Bytes(span).to_string(), &problem, &format!("use {}", Bytes(row)));
    }
    if !config.flash_page.0.is_power_of_two() || !config.capacity().is_multiple_of(config.flash_page.0) {
        let problem = "the memory size is not a multiple of it";
        reader.conflict("flash_page", &config.flash_page.to_string(), problem, "use \"16 KiB\"");
    }
    if !config.volatile && part.refresh_every.is_some() {
        let problem = "memory with refresh loses its content without power";
        reader.conflict("volatile", "false", problem, "use true, or remove refresh_every and refresh");
    }
    if !config.volatile && config.rows == RowPolicy::Open {
        let problem = "writes are durable only when their rows are closed, but these rows stay open";
        reader.conflict("rows", "open", problem, "use \"open_for_reads\" or \"closed\"");
    }
    if config.written == Written::Closed && config.rows == RowPolicy::Open {
        let problem = "written rows stay open, so no write would complete";
        reader.conflict("written", "closed", problem, "use \"in_row\", or rows = \"open_for_reads\"");
    }
    if !config.volatile && config.capacitor.is_some() {
        let given = config.capacitor.map_or_else(String::new, |held| held.to_string());
        let problem = "non-volatile memory needs none";
        reader.conflict("capacitor", &given, problem, "remove it, or use volatile = true");
    }
}
