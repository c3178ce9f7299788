//! The configuration of Onyx.

use crate::ecc::EccFamily;
use crate::host_interface::HostInterfaceFamily;
use crate::wear_leveling::{Region, WearLevelingFamily};
use nacre_config::{Choice, Configuration, Reader, Slot};
use nacre_kernel::{Bandwidth, Bytes, Energy, Price, Ratio, Time};
use nacre_media::pcm::{Chips, Rank};

/// Factor that compensates for rounding. Without it, a budget that is exactly sufficient for N programs could
/// give N - 1.
pub(super) const ROUNDING: f64 = 1.0 + 1e-12;

/// Time at which a write completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum CompletionPoint {
    /// The write completes when all of its rows are programmed.
    Late,
    /// The write completes when its data is in the controllers' buffers.
    Early,
}

/// Order in which a controller serves its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Scheduling {
    /// The oldest request whose lines and ranks are free is served first. It overtakes older requests that
    /// wait for their ranks.
    Available,
    /// The oldest request is served first, even if it must wait for its ranks.
    InOrder,
}

/// Settings of a PCM solid-state drive on PCIe.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Number of controllers, each with separate data lines.
    #[config(default = 8, min = 1, max = 256, source = "paper: akel-2011 section 2.3")]
    pub controllers: u32,
    /// Number of ranks per controller.
    #[config(default = 16, min = 1, max = 256, source = "paper: akel-2011 section 2.3")]
    pub ranks: u32,
    /// Number of ranks that store a row.
    #[config(
        default = 8,
        min = 1,
        max = 256,
        source = "fitted: the ranks of one DIMM; with two programs per rank, close to both 470 MB/s and 179 us for 4 KB"
    )]
    pub row_ranks: u32,
    /// Chips of a rank.
    #[config(flatten)]
    pub chips: Chips,
    /// Share of zero words in every chunk, for writes in a simulation without data. The number of zero
    /// words is rounded down, which gives the longer program.
    #[config(default = "0 %", max = "100 %", source = "assumed: arbitrary data, the longest programs")]
    pub zero_words: Ratio,
    /// Error-correcting code over a read unit of all data chips. The spare chips hold its spare bytes.
    #[config(
        default = "none",
        source = "paper: akel-2011 section 2.2, 16 of 80 bits are available for ECC or other meta data; a code is not named"
    )]
    pub ecc: Slot<EccFamily>,
    /// Probability of an error in each bit that the host reads.
    #[config(
        default = 0,
        min = 0,
        max = 0.1,
        source = "paper: akel-2011 section 2.2, no bit error without ECC in the rated programs"
    )]
    pub bit_error_rate: f64,
    /// Size of a row in bytes. A row is the unit of striping over the controllers and of wear leveling.
    #[config(
        default = "4 KiB",
        min = "64 B",
        max = "1 MiB",
        source = "paper: akel-2011 sections 2.1 and 2.3"
    )]
    pub row: Bytes,
    /// Time that the controller adds to each read of a rank.
    #[config(
        default = "96.3 ns",
        max = "1 s",
        source = "fitted: 64 B of four chips in 410.3 ns are the 156 MB/s of akel-2011 section 2.3"
    )]
    pub read_control: Time,
    /// Setup time before the reads or programs of a row.
    #[config(
        default = "3 us",
        max = "1 s",
        source = "fitted: large reads at the 1.1 GB/s of akel-2011 section 3.1"
    )]
    pub row_setup: Time,
    /// Time between two polls of a rank's status register, from the start of its program. By default, the
    /// controller sees the end of a program immediately, e.g. through a ready line.
    #[config(min = "1 ns", max = "1 s")]
    pub poll_interval: Option<Time>,
    /// Time of a poll on the data lines.
    #[config(
        default = "115 ns",
        max = "1 s",
        source = "datasheet: numonyx-p8p, initial read access; assumed to be that of the status register too"
    )]
    pub poll: Time,
    /// Order in which a controller serves its requests.
    #[config(
        default = "available",
        source = "paper: akel-2011 section 2.3, a scoreboard, and a scheduler that maps requests to available ranks"
    )]
    pub scheduling: Scheduling,
    /// Wear leveling of rows.
    #[config(default = "start_gap", source = "paper: akel-2011 section 2.3")]
    pub wear_leveling: Slot<WearLevelingFamily>,
    /// Time at which a write completes.
    #[config(default = "early", source = "paper: akel-2011 section 3.1, early in all later experiments")]
    pub completion: CompletionPoint,
    /// Number of row writes that the buffer of a controller holds.
    #[config(
        default = 3,
        min = 1,
        max = 4096,
        source = "fitted: for small writes, early completion 174 % above late and 72 to 120 % above the ioDrive, akel-2011 section 3.1; nearest to both"
    )]
    pub buffered_writes: u32,
    /// Number of concurrent row writes of a controller with late completion.
    #[config(
        default = 2,
        min = 1,
        max = 4096,
        source = "assumed: one per group of ranks, which a row occupies completely"
    )]
    pub late_writes: u32,
    /// With late completion, time from the last program of a write slot until the slot contains the next data
    /// from the host. Data does not wait in a buffer in this case.
    #[config(
        default = "45 us",
        max = "1 s",
        source = "fitted: early completion 32 % above late for large writes, akel-2011 section 3.1; the paper describes no component with this delay"
    )]
    pub late_refill: Time,
    /// Host interface. The driver and the link of the host interface replace the settings `driver`, `cpus`,
    /// and `link`. By default, these settings apply.
    pub host: Option<Slot<HostInterfaceFamily>>,
    /// Maximum number of requests in progress.
    #[config(default = 64, min = 1, max = 65536, source = "paper: akel-2011 section 2.1")]
    pub tags: u32,
    /// Time of a request in the request pipeline. The pipeline processes one request at a time.
    #[config(
        default = "2.09 us",
        max = "1 s",
        source = "fitted: 478,000 reads of 512 B a second, akel-2011 section 3.1"
    )]
    pub pipeline: Time,
    /// Bandwidth of the link to the host, in each direction.
    #[config(default = "2 GB/s", min = "1 B/s", source = "paper: akel-2011 section 2.1, PCIe 1.1 x8")]
    pub link: Bandwidth,
    /// Bandwidth of the ring between the pipeline and the controllers.
    #[config(
        default = "4 GB/s",
        min = "1 B/s",
        source = "assumed: 128 bits at the 250 MHz of akel-2011 section 2.1"
    )]
    pub ring: Bandwidth,
    /// Number of stations of the ring. Controllers are distributed evenly over the stations. The pipeline is
    /// at the first station.
    #[config(default = 4, min = 1, max = 256, source = "paper: akel-2011 section 2.1, four FPGAs in a ring")]
    pub ring_stations: u32,
    /// Time of a packet from one station to the next.
    #[config(
        default = "0 s",
        max = "1 s",
        source = "assumed: a few clocks of 4 ns, negligible next to microseconds"
    )]
    pub ring_hop: Time,
    /// CPU time of the host's driver per request.
    #[config(
        default = "3.6 us",
        max = "1 s",
        source = "fitted: reads of 4 KB in the 38 us of akel-2011 section 3.1"
    )]
    pub driver: Time,
    /// Number of CPUs that run the driver.
    #[config(
        default = 16,
        min = 1,
        max = 1024,
        source = "assumed: one for each thread of akel-2011 section 3.1"
    )]
    pub cpus: u32,
    /// Energy of the capacitors that program the write buffers after a power loss. By default, the energy
    /// is sufficient with early completion and zero with late completion.
    pub capacitors: Option<Energy>,
    /// Whether the capacitors may hold less energy than full write buffers need. Data that cannot be
    /// programmed is lost.
    #[config(default = false, source = "paper: akel-2011 section 2.3, capacitors complete the operation")]
    pub may_lose_writes: bool,
    /// Price per usable capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
}

impl Config {
    /// Time of a packet between the pipeline and controller `number`, in the shorter direction.
    pub(super) fn ring_delay(&self, number: u32) -> Time {
        let stations = u64::from(self.ring_stations);
        let station = u64::from(number) * stations / u64::from(self.controllers);
        self.ring_hop * station.min(stations - station)
    }

    /// Usable capacity of one controller.
    pub(super) fn controller_bytes(&self) -> u64 {
        u64::from(self.ranks) * u64::from(self.chips.data_chips) * self.chips.chip.0
    }

    /// Number of logical rows of one controller.
    pub(super) fn rows(&self) -> u64 {
        self.controller_bytes() / self.row.0
    }

    /// Number of row writes that a controller performs at a time.
    pub(super) fn writes_at_a_time(&self) -> u32 {
        match self.completion {
            CompletionPoint::Early => self.buffered_writes,
            CompletionPoint::Late => self.late_writes,
        }
    }

    /// Region of controller `number`, for its wear leveling.
    pub(super) fn region(&self, number: u32) -> Region {
        Region { number, rows: self.rows(), endurance: self.chips.cells.endurance }
    }

    /// Number of chunks per row. A rank programs one chunk at a time.
    pub(super) fn chunks(&self) -> u64 {
        self.row.0 / self.rank().chunk
    }

    /// Parameters of the medium for the controller.
    pub(super) fn rank(&self) -> Rank {
        self.chips.rank(self.read_control)
    }

    /// Number of row writes that the buffers of all controllers hold together.
    pub(super) fn buffered_rows(&self) -> u64 {
        u64::from(self.controllers) * u64::from(self.buffered_writes)
    }

    /// Energy to program full write buffers. `None` if the energy of a program is unknown.
    pub(super) fn emptying(&self) -> Option<Energy> {
        let rows = self.buffered_rows();
        self.row_energy().map(|each| Energy(each.0 * rows as f64))
    }

    /// Energy to program a row of arbitrary data. `None` if the energy of a program is unknown.
    fn row_energy(&self) -> Option<Energy> {
        let programs = self.chunks() * u64::from(self.chips.count());
        self.chips.cells.program_energy.map(|each| Energy(each.0 * programs as f64))
    }

    /// Number of row writes for which the capacitors have enough energy. `None` if the drive has no
    /// capacitors or the energy of a program is unknown.
    pub(super) fn powered_rows(&self) -> Option<u64> {
        let (held, each) = (self.capacitors?, self.row_energy().filter(|each| each.0 > 0.0)?);
        Some((held.0 / each.0 * ROUNDING) as u64)
    }
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.chips.check_energies(reader, config.capacitors.is_some());
    config.chips.check_times(reader);
    check_rows(config, reader);
    check_capacitors(config, reader);
    if let Some(interval) = config.poll_interval.filter(|&interval| interval <= config.poll) {
        let problem = format!("a poll takes {}", config.poll);
        let remedy = "use a longer interval, or leave poll_interval out for chips with a ready line";
        reader.conflict("poll_interval", &interval.to_string(), &problem, remedy);
    }
}

fn check_rows(config: &Config, reader: &mut Reader<'_>) {
    let chunk = config.rank().chunk;
    if !config.row.0.is_power_of_two() || config.row.0 < chunk || !config.row.0.is_multiple_of(chunk) {
        let problem = format!("a row is a power of two of bytes, in whole programs of {}", Bytes(chunk));
        let remedy = format!(
            "use {}, or change program_unit or data_chips",
            Bytes(chunk.next_power_of_two().max(4096))
        );
        reader.conflict("row", &config.row.to_string(), &problem, &remedy);
    }
    if !config.ranks.is_multiple_of(config.row_ranks) {
        let remedy = format!("use a divisor of {}", config.ranks);
        let given = config.row_ranks.to_string();
        reader.conflict("row_ranks", &given, "row_ranks does not divide the ranks", &remedy);
    }
    if !config.controller_bytes().is_multiple_of(config.row.0.max(1)) {
        let remedy = format!("give a multiple of the row, {}", config.row);
        reader.conflict(
            "chip",
            &config.chips.chip.to_string(),
            "the size is not a whole number of rows per controller",
            &remedy,
        );
    }
}

fn check_capacitors(config: &Config, reader: &mut Reader<'_>) {
    if config.capacitors.is_some() && config.chips.cells.program_energy.is_none() {
        let remedy = "give program_energy, the energy of one program of one chip";
        let given = config.capacitors.map_or_else(String::new, |held| held.to_string());
        reader.conflict(
            "capacitors",
            &given,
            "the energy of a program is not given, so it is not known how many programs that is",
            remedy,
        );
    }
    if let (CompletionPoint::Early, Some(held), Some(needed)) =
        (config.completion, config.capacitors, config.emptying())
        && held.0 < needed.0
        && !config.may_lose_writes
    {
        let problem = format!(
            "full write buffers, {} row writes, need {needed} to be programmed; this is enough for {}",
            config.buffered_rows(),
            config.powered_rows().unwrap_or(0)
        );
        let remedy = "give larger capacitors, fewer buffered_writes, completion = \"late\", or \
                      may_lose_writes = true to see what is lost";
        reader.conflict("capacitors", &held.to_string(), &problem, remedy);
    }
}
