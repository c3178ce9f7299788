//! Where a page of the host goes when each plane is filled by itself: by its address, or to the die that is free first.

use crate::config::{Allocation, Config, LETTERS};
use crate::layout::divisor::Divisor;
use crate::layout::geometry::Geometry;
use nacre_kernel::state::State;

/// Which plane takes which page.
#[derive(State)]
pub(crate) struct PlaneAllocation {
    /// Whether the die that is free first takes the next page; otherwise its address decides.
    #[state(skip = "from the configuration")]
    pub(crate) is_dynamic: bool,
    #[state(skip = "from the configuration")]
    by_page: Divisor,
    #[state(skip = "from the configuration")]
    by_regions: Divisor,
    /// The planes in the order in which pages that follow each other go to them; one where superblocks lie over all dies.
    #[state(skip = "from the configuration")]
    pub(crate) in_order: Vec<u32>,
    /// By placement handle, the place in that order of the plane that takes pages, where it is the first free.
    pub(crate) turns: Vec<u32>,
    /// By placement handle and die, the plane that took a page last, by its number on the die, where it is the first free.
    pub(crate) last_planes: Vec<u32>,
}

impl PlaneAllocation {
    /// That of `config`, which was checked.
    pub(crate) fn new(config: &Config, geometry: &Geometry) -> PlaneAllocation {
        let is_dynamic = config.allocation == Allocation::Dynamic;
        let handles = if is_dynamic { config.placement_handles as usize } else { 0 };
        PlaneAllocation {
            turns: vec![0; handles],
            last_planes: vec![config.planes - 1; handles * geometry.dies as usize],
            is_dynamic,
            by_page: Divisor::new(geometry.units_per_page),
            by_regions: Divisor::new(geometry.regions),
            in_order: if geometry.is_by_plane() { in_order(config) } else { vec![0] },
        }
    }

    /// The plane that the page of `unit` belongs to by its address, and how many pages before it do.
    pub(crate) fn by_address(&self, unit: u32) -> (usize, u32) {
        let (page, _) = self.by_page.divide(unit);
        let (before, turn) = self.by_regions.divide(page);
        (self.in_order[turn as usize] as usize, before)
    }
}

/// The planes of `config` in the order of its letters: the first letter changes with every page.
fn in_order(config: &Config) -> Vec<u32> {
    let sizes = [config.channels, config.ways, 1, config.planes];
    let letters = LETTERS.chars().zip(sizes).collect::<Vec<_>>();
    let all = config.channels * config.ways * config.planes;
    let number = |page: u32| {
        let (mut left, mut of) = (page, [0; 4]);
        for letter in config.order().chars() {
            let place =
                letters.iter().position(|&(known, _)| known == letter).expect("the order was checked");
            (left, of[place]) = (left / sizes[place], left % sizes[place]);
        }
        let [channel, way, _, plane] = of;
        (way * config.channels + channel) * config.planes + plane
    };
    (0..all).map(number).collect()
}
