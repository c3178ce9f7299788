//! The configuration of eNVy.

use crate::cleaning::CleaningFamily;
use nacre_config::{Configuration, Slot};
use nacre_kernel::{Bytes, Price, Ratio, Time};
use nacre_media::charge::Energies;
use nacre_media::flash::{OperationEnergy, ProgramErase};

/// Settings of flash as main memory.
#[derive(Clone, Debug, Configuration)]
#[config(check = "super::checks::check")]
pub struct Config {
    /// Number of segments. A segment is the erase unit: one erase block on every chip of a bank.
    #[config(default = 128, min = 2, max = 1048576, source = "paper: wu-1994 section 5.1")]
    pub segments: u32,
    /// Size of a segment, in bytes.
    #[config(default = "16 MiB", min = "8 B", max = "1 GiB", source = "paper: wu-1994 section 5.1")]
    pub segment: Bytes,
    /// Size of a page, the program unit, in bytes.
    #[config(default = "256 B", min = "4 B", max = "64 KiB", source = "paper: wu-1994 section 3.3")]
    pub page: Bytes,
    /// Bytes that the chips of a bank transfer in one memory cycle, e.g. one byte per chip. A larger page
    /// takes one cycle and one program per transfer. The default is a whole page.
    #[config(min = "1 B", max = "64 KiB")]
    pub transfer: Option<Bytes>,
    /// Number of banks. Segments on the same chips form a bank.
    #[config(default = 8, min = 1, max = 65536, source = "paper: wu-1994 figure 12")]
    pub banks: u32,
    /// Number of spare (erased) segments.
    #[config(default = 1, min = 1, max = 1024, source = "paper: wu-1994 section 3.4")]
    pub spare_segments: u32,
    /// Usable capacity as a share of the capacity of all segments except spare segments.
    #[config(default = "80 %", min = "0.01 %", max = "100 %", source = "paper: wu-1994 section 4.1")]
    pub utilization: Ratio,
    /// Amount of initial data, stored in order across all segments. The default is the whole usable
    /// capacity.
    pub preload: Option<Bytes>,
    /// SRAM size of the write buffer.
    #[config(default = "16 MiB", min = "4 B", max = "16 GiB", source = "paper: wu-1994 section 5.1")]
    pub buffer: Bytes,
    /// Share of the write buffer above which pages are drained.
    #[config(
        default = "25 %",
        max = "100 %",
        source = "fitted: gives the 10,376 drained pages a second of wu-1994 section 5.5; the paper says \"a certain threshold\""
    )]
    pub threshold: Ratio,
    /// Cleaning policy, i.e. how the controller selects the segment to clean and the destinations of its
    /// valid pages.
    #[config(default = "hybrid", source = "paper: wu-1994 section 4.4")]
    pub cleaning: Slot<CleaningFamily>,
    /// Difference in erase counts above which the data of two segments is exchanged; 0 disables exchanges.
    #[config(default = 100, source = "paper: wu-1994 section 4.3")]
    pub wear_swap_gap: u32,
    /// Number of bytes of one host access. A longer request takes several accesses.
    #[config(default = "4 B", min = "1 B", max = "64 KiB", source = "assumed: the word of a 32-bit host")]
    pub word: Bytes,
    /// Time of an SRAM access or flash read: 100 ns for the chip and 60 ns for control and propagation.
    #[config(default = "160 ns", min = "1 ps", max = "1 s", source = "paper: wu-1994 section 5.1")]
    pub access: Time,
    /// Time that copy-on-write into the buffer adds to a write, per transfer of the page.
    #[config(
        default = "100 ns",
        max = "1 s",
        source = "fitted: one read of the flash chips, whose control overlaps the write; gives the 200 ns of wu-1994 figure 15"
    )]
    pub copy_on_write: Time,
    /// Number of mappings that the memory management unit caches; 0 means all of them.
    #[config(
        default = 64,
        max = 65536,
        source = "fitted: gives the 180 ns of wu-1994 figure 15; usual in processors of its time"
    )]
    pub mmu_entries: u32,
    /// Time to read a mapping from the page table if the memory management unit does not cache it.
    #[config(default = "160 ns", max = "1 s", source = "paper: wu-1994 section 5.1, an SRAM operation")]
    pub page_table_access: Time,
    /// Program and erase times of the flash.
    #[config(flatten)]
    #[config(with(program(
        default = "4 us",
        min = "1 ps",
        max = "10 s",
        source = "paper: wu-1994 figure 12"
    )))]
    #[config(with(erase(
        doc = "Time to erase a segment.",
        default = "50 ms",
        max = "1 h",
        source = "paper: wu-1994 figure 12"
    )))]
    pub program_erase: ProgramErase<Time>,
    /// Maximum number of programs and erases in progress, each in a different bank.
    #[config(default = 1, min = 1, max = 64, source = "paper: wu-1994 section 5; 4 to 8 in section 6")]
    pub concurrency: u32,
    /// Host idle time before programs and erases resume.
    #[config(
        default = "6 us",
        max = "1 s",
        source = "fitted: \"a few microseconds\" in wu-1994 section 3.4; gives the 30,000 transactions a second of figure 13"
    )]
    pub resume_after: Time,
    /// Time that suspending a program or an erase adds to the host access.
    #[config(default = "0 s", max = "1 s", source = "paper: wu-1994 does not count this time")]
    pub suspend: Time,
    /// Rated number of erases of a segment.
    #[config(default = 1000000, min = 1, source = "paper: wu-1994 section 5.5")]
    pub endurance: u64,
    /// Energy per operation.
    #[config(flatten)]
    #[config(with(read_energy(
        name = "access_energy",
        doc = "Energy of one host access, in addition to idle power."
    )))]
    #[config(with(erase_energy(doc = "Energy to erase a segment, in addition to idle power.")))]
    pub energy: OperationEnergy,
    /// Price of the flash.
    pub price: Option<Price>,
    /// Price of the SRAM for the write buffer and the page table. The table has six bytes per flash page
    /// (section 3.3).
    pub sram_price: Option<Price>,
    /// Currency of the flash price and the SRAM price, e.g. "USD 2023". Prices in different currencies are
    /// not added.
    pub price_basis: Option<String>,
}

impl Config {
    /// Energies of an access, a program, and an erase.
    pub(super) fn energies(&self) -> Energies<3> {
        Energies::of(self.energy.each())
    }

    /// Number of transfers that move one page between the flash of a bank and SRAM.
    fn transfers(&self) -> u64 {
        self.transfer.map_or(1, |transfer| self.page.0.div_ceil(transfer.0))
    }

    /// Time that copy-on-write of a page into the buffer adds to a write.
    pub(super) fn copy_of_page(&self) -> Time {
        self.copy_on_write * self.transfers()
    }

    /// Time to program a page, one transfer after another.
    pub(super) fn program_of_page(&self) -> Time {
        self.program_erase.program * self.transfers()
    }

    /// Number of pages in the write buffer.
    pub(super) fn buffer_pages(&self) -> u32 {
        (self.buffer.0 / self.page.0) as u32
    }
}
