//! Where a page of the host goes when each plane is filled by itself: by its address, or to the die that is free first.

use crate::config::{Allocation, Config, Order};
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
        let mapping = config.mapping();
        let is_dynamic = matches!(mapping.allocation, Allocation::Dynamic(_));
        let handles = if is_dynamic { mapping.placement_handles as usize } else { 0 };
        PlaneAllocation {
            turns: vec![0; handles],
            last_planes: vec![config.planes - 1; handles * geometry.dies as usize],
            is_dynamic,
            by_page: Divisor::new(geometry.units_per_page),
            by_regions: Divisor::new(geometry.regions),
            in_order: match &mapping.allocation {
                Allocation::Superblock(_) => vec![0],
                Allocation::Static(given) => in_order(config, given.order),
                Allocation::Dynamic(_) => in_order(config, Order::Cwp),
            },
        }
    }

    /// The plane that the page of `unit` belongs to by its address, and how many pages before it do.
    pub(crate) fn by_address(&self, unit: u32) -> (usize, u32) {
        let (page, _) = self.by_page.divide(unit);
        let (before, turn) = self.by_regions.divide(page);
        (self.in_order[turn as usize] as usize, before)
    }
}

/// The planes of `config` in this order: what is first in it changes with every page.
fn in_order(config: &Config, order: Order) -> Vec<u32> {
    let sizes = [config.channels, config.ways, config.planes];
    let number = |page: u32| {
        let (mut left, mut of) = (page, [0; 3]);
        for place in order.places() {
            (left, of[place]) = (left / sizes[place], left % sizes[place]);
        }
        let [channel, way, plane] = of;
        (way * config.channels + channel) * config.planes + plane
    };
    (0..sizes.iter().product()).map(number).collect()
}
