//! The configuration of a flash disk cache.

use super::FLASH_PAGE;
use nacre_config::{Choice, Configuration, Reader, Slot};
use nacre_controller::ecc::EccFamily;
use nacre_device::DeviceFamily;
use nacre_kernel::{Area, BitArea, Bytes, Price, Ratio, Time};
use nacre_media::dual_mode_flash::{Mode, Nand};

/// Minimum number of blocks of a region. The region needs an open block, free blocks for garbage collection,
/// and full blocks to evict.
pub(super) const REGION_BLOCKS_MIN: u32 = 4;

/// Initial bits per cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Density {
    /// One bit per cell.
    Slc,
    /// Two bits per cell.
    Mlc,
}

impl Density {
    pub(super) fn mode(self) -> Mode {
        match self {
            Density::Slc => Mode::Slc,
            Density::Mlc => Mode::Mlc,
        }
    }
}

/// A flash chip whose pages are in SLC or MLC mode.
#[derive(Clone, Debug, Configuration)]
pub struct Cells {
    /// Number of erase blocks.
    #[config(min = 8, max = 4194304)]
    pub blocks: u32,
    /// Number of slots per block, which must be a power of two. A slot is one SLC page or two MLC pages.
    #[config(
        default = 64,
        min = 1,
        max = 4096,
        source = "paper: roberts-2009 section II.A: 64 SLC or 128 MLC pages"
    )]
    pub slots: u32,
    /// Spare bytes of each page of 2 KiB.
    #[config(default = "64 B", min = "1 B", max = "1 KiB", source = "paper: roberts-2009 section II.A")]
    pub spare: Bytes,
    /// Number of dies. A die performs one operation at a time, and blocks are distributed over the dies.
    #[config(default = 4, min = 1, max = 1024, source = "assumed: a few chips; the paper does not state it")]
    pub dies: u32,
    /// Timing, wear, and power of the operations.
    #[config(flatten)]
    pub nand: Nand,
    /// Area per bit of new cells, without spare bytes.
    pub area: Option<BitArea>,
    /// Price per initial capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023". Prices in different currencies are not added.
    pub price_basis: Option<String>,
}

/// A flash cache for the pages of a disk.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// The flash chip.
    #[config(flatten)]
    pub cells: Cells,
    /// Initial bits per cell.
    #[config(
        default = "mlc",
        source = "paper: roberts-2009 section III: a NAND flash that stores 2 bits per cell"
    )]
    pub density: Density,
    /// Error-correcting code of new pages, for pages of 2 KiB.
    pub ecc: Slot<EccFamily>,
    /// Number of decoders. Each decoder decodes one page at a time, from any die.
    #[config(
        default = 1,
        min = 1,
        max = 1024,
        source = "paper: roberts-2009 section III: a BCH encoder and decoder"
    )]
    pub decoders: u32,
    /// Area of one decoder, in addition to the cells. By default, the area of the cache does not
    /// include decoders.
    pub decoder_area: Option<Area>,
    /// Whether pages with at least as many bit errors as their code corrects get a stronger code.
    #[config(
        default = true,
        source = "paper: roberts-2009 section III: ECC strength follows the faulty bits of a page"
    )]
    pub raises_strength: bool,
    /// Maximum number of bit errors per page that the strongest code corrects.
    #[config(
        default = 12,
        min = 1,
        max = 40,
        source = "assumed: kgil-2009 supports up to 12 bits of a page"
    )]
    pub strongest: u32,
    /// Whether slots with pages that have at least as many bit errors as their code corrects change to SLC
    /// mode.
    #[config(default = true, source = "paper: roberts-2009 section III: MLC pages become SLC as needed")]
    pub lowers_density: bool,
    /// Whether frequently read pages move to slots in SLC mode.
    #[config(
        default = true,
        source = "paper: roberts-2009 section III: access latency of frequently accessed pages"
    )]
    pub promotes: bool,
    /// Number of hits after which a page moves to SLC mode. The page's hit counter saturates at this value.
    #[config(default = 63, min = 1, max = 65535, source = "assumed: a counter of six bits")]
    pub promotes_at: u32,
    /// Share of the blocks reserved for written pages. With 0 %, read and written pages share all blocks.
    #[config(default = "10 %", max = "90 %", source = "assumed: from memory of kgil-2008, 10 % for writes")]
    pub write_region: Ratio,
    /// Share of invalid pages above which garbage collection frees a block. At or below this share, the cache
    /// evicts a block.
    #[config(
        default = "10 %",
        min = "0.1 %",
        max = "100 %",
        source = "assumed: from memory of kgil-2008, below 90 % valid"
    )]
    pub collects_above: Ratio,
    /// Difference in wear above which an erased block is exchanged with the least worn block, in erases.
    #[config(default = 256, min = 1, max = 4294967294, source = "assumed: from memory of kgil-2008")]
    pub wear_gap: u64,
    /// Number of erases added to the wear of a block for each additional bit that the code of a slot
    /// corrects.
    #[config(
        default = 1.0,
        min = 0,
        max = 1000000,
        source = "assumed: kgil-2008 has this weight but does not state its value"
    )]
    pub strength_weight: f64,
    /// Number of erases added to the wear of a block for each slot that changed to SLC mode because of bit
    /// errors.
    #[config(
        default = 1.0,
        min = 0,
        max = 1000000,
        source = "assumed: kgil-2008 has this weight but does not state its value"
    )]
    pub density_weight: f64,
    /// Time to look up the pages of a request.
    #[config(default = "0 s", max = "1 s", source = "assumed: tables in DRAM, far below a microsecond")]
    pub lookup: Time,
    /// Device that stores all pages.
    pub backing: Slot<DeviceFamily>,
}

fn check(config: &Config, reader: &mut Reader<'_>) {
    let slots = config.cells.slots;
    if !slots.is_power_of_two() {
        let remedy = format!("the next one is {}", slots.next_power_of_two());
        reader.conflict("slots", &slots.to_string(), "it is not a power of two", &remedy);
    }
    check_area(config, reader);
    let pages = u64::from(config.cells.blocks) * u64::from(slots) * 2;
    if pages > 1 << 30 {
        let problem = format!("{pages} pages are more than {}", 1 << 30);
        let remedy = format!("the most blocks allowed are {}", (1 << 29) / slots);
        reader.conflict("blocks", &config.cells.blocks.to_string(), &problem, &remedy);
    }
    let writes = config.write_blocks();
    let smaller = writes.min(config.cells.blocks - writes);
    if writes > 0 && smaller < REGION_BLOCKS_MIN {
        let problem = format!("a region of {smaller} blocks is too small");
        let remedy = format!("give each at least {REGION_BLOCKS_MIN} blocks, or use 0 % for one region");
        reader.conflict("write_region", &config.write_region.to_string(), &problem, &remedy);
    }
}

/// Checks that `area` is given if `decoder_area` is given. With several decoders, also checks that
/// `decoder_area` is given if `area` is given.
fn check_area(config: &Config, reader: &mut Reader<'_>) {
    match (config.cells.area, config.decoder_area) {
        (Some(area), None) if config.decoders > 1 => {
            let problem = format!("the area of {} decoders is not known", config.decoders);
            reader.conflict("area", &area.to_string(), &problem, "give decoder_area too");
        }
        (None, Some(area)) => {
            let problem = "the area of the cells next to it is not known";
            reader.conflict("decoder_area", &area.to_string(), problem, "give area too");
        }
        _ => {}
    }
}

impl Config {
    /// Number of blocks in the region for written pages; 0 if there is only one region.
    pub(super) fn write_blocks(&self) -> u32 {
        (f64::from(self.cells.blocks) * self.write_region.0).round() as u32
    }

    /// Area of the cells in their initial mode, and of the decoders if given, in square millimeters.
    pub(super) fn area_mm2(&self) -> Option<f64> {
        let decoders = self.decoder_area.map_or(0.0, |area| area.0 * f64::from(self.decoders));
        self.cells.area.map(|area| area.mm2_of(Bytes(self.flash_bytes())) + decoders)
    }

    /// Data capacity of the flash in its initial mode, in bytes.
    pub(super) fn flash_bytes(&self) -> u64 {
        let pages = u64::from(self.cells.blocks) * u64::from(self.cells.slots);
        pages * u64::from(self.density.mode().pages()) * FLASH_PAGE
    }
}
