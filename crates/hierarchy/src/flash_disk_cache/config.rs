//! The configuration of a flash disk cache.

use super::FLASH_PAGE;
use nacre_config::{Choice, Configuration, Reader, Slot};
use nacre_controller::ecc::EccFamily;
use nacre_device::DeviceFamily;
use nacre_kernel::{Area, BitArea, Bytes, Price, Ratio, Time};
use nacre_media::dual_mode_flash::{Mode, Nand};

/// Slots of the smallest region: blocks to open, to collect into, and to evict.
pub(super) const REGION_BLOCKS_MIN: u32 = 4;

/// How many bits new flash holds in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Choice)]
pub enum Density {
    /// One.
    Slc,
    /// Two.
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

/// A flash chip whose pages hold one bit or two in a cell.
#[derive(Clone, Debug, Configuration)]
pub struct Cells {
    /// Erase blocks.
    #[config(min = 8, max = 4194304)]
    pub blocks: u32,
    /// Slots per block: one SLC page or two MLC pages each; a power of two.
    #[config(
        default = 64,
        min = 1,
        max = 4096,
        source = "paper: roberts-2009 section II.A: 64 SLC or 128 MLC pages"
    )]
    pub slots: u32,
    /// Bytes stored next to a page of 2 KiB.
    #[config(default = "64 B", min = "1 B", max = "1 KiB", source = "paper: roberts-2009 section II.A")]
    pub spare: Bytes,
    /// Dies, each of which does one thing at a time; blocks lie on them in turn.
    #[config(default = 4, min = 1, max = 1024, source = "assumed: a few chips; the paper does not say")]
    pub dies: u32,
    /// Their times, wear and power.
    #[config(flatten)]
    pub nand: Nand,
    /// Area per bit of new cells, without spare bytes.
    pub area: Option<BitArea>,
    /// Price per initial capacity.
    pub price: Option<Price>,
    /// Currency of the price, e.g. "USD 2023"; prices in different currencies are not added.
    pub price_basis: Option<String>,
}

/// A cache of a disk's pages in flash.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// The flash.
    #[config(flatten)]
    pub cells: Cells,
    /// How many bits a cell holds at first.
    #[config(
        default = "mlc",
        source = "paper: roberts-2009 section III: a NAND flash that stores 2 bits per cell"
    )]
    pub density: Density,
    /// The code of new pages, for pages of 2 KiB.
    pub ecc: Slot<EccFamily>,
    /// Pages that are decoded at one time, whichever dies they come from.
    #[config(
        default = 1,
        min = 1,
        max = 1024,
        source = "paper: roberts-2009 section III: a BCH encoder and decoder"
    )]
    pub decoders: u32,
    /// Area of one decoder, in addition to the cells; absent means that it does not count.
    pub decoder_area: Option<Area>,
    /// Whether pages that come to the end of their code get a stronger one.
    #[config(
        default = true,
        source = "paper: roberts-2009 section III: ECC strength follows the faulty bits of a page"
    )]
    pub raises_strength: bool,
    /// The most bit errors that the strongest code corrects.
    #[config(
        default = 12,
        min = 1,
        max = 40,
        source = "assumed: kgil-2009 supports up to 12 bits of a page"
    )]
    pub strongest: u32,
    /// Whether slots that come to the end of their code continue with one bit in a cell.
    #[config(default = true, source = "paper: roberts-2009 section III: MLC pages become SLC as needed")]
    pub lowers_density: bool,
    /// Whether pages that are read often move to slots with one bit in a cell.
    #[config(
        default = true,
        source = "paper: roberts-2009 section III: access latency of frequently accessed pages"
    )]
    pub promotes: bool,
    /// Hits after which a page is moved so; where its counter saturates.
    #[config(default = 63, min = 1, max = 65535, source = "assumed: a counter of six bits")]
    pub promotes_at: u32,
    /// Share of the blocks that are for written pages; with 0 % all blocks are for all pages.
    #[config(
        default = "10 %",
        max = "90 %",
        source = "assumed: as recalled from kgil-2008, 10 % for writes"
    )]
    pub write_region: Ratio,
    /// Share of programmed pages that are not valid above which a region is collected instead of evicted from.
    #[config(
        default = "10 %",
        min = "0.1 %",
        max = "100 %",
        source = "assumed: as recalled from kgil-2008, below 90 % valid"
    )]
    pub collects_above: Ratio,
    /// By how much a block may be worn more than the one worn least before they change places.
    #[config(default = 256, min = 1, max = 4294967294, source = "assumed: as recalled from kgil-2008")]
    pub wear_gap: u64,
    /// Erases that one more bit of the codes of a block counts as, in its degree of wear.
    #[config(
        default = 1.0,
        min = 0,
        max = 1000000,
        source = "assumed: kgil-2008 has such a weight and its value is not known"
    )]
    pub strength_weight: f64,
    /// Erases that one more slot of a block with one bit in a cell counts as, in its degree of wear.
    #[config(
        default = 1.0,
        min = 0,
        max = 1000000,
        source = "assumed: kgil-2008 has such a weight and its value is not known"
    )]
    pub density_weight: f64,
    /// Time to find out where the pages of a request are.
    #[config(default = "0 s", max = "1 s", source = "assumed: tables in DRAM, far below a microsecond")]
    pub lookup: Time,
    /// Device that holds all pages.
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

/// More decoders are no gain for nothing: where an area is given, theirs is, too.
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
    /// Blocks of the region for written pages; 0 where there is one region.
    pub(super) fn write_blocks(&self) -> u32 {
        (f64::from(self.cells.blocks) * self.write_region.0).round() as u32
    }

    /// Square millimeters of its cells as they are new, and of its decoders where their area is given.
    pub(super) fn area_mm2(&self) -> Option<f64> {
        let decoders = self.decoder_area.map_or(0.0, |area| area.0 * f64::from(self.decoders));
        self.cells.area.map(|area| area.mm2_of(Bytes(self.flash_bytes())) + decoders)
    }

    /// Bytes of data of all flash as it is new.
    pub(super) fn flash_bytes(&self) -> u64 {
        let pages = u64::from(self.cells.blocks) * u64::from(self.cells.slots);
        pages * u64::from(self.density.mode().pages()) * FLASH_PAGE
    }
}
