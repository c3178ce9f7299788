//! Allocation of host pages to planes: by address, or to the die that is free first.

use crate::config::{Allocation, Config, Order};
use crate::layout::divisor::Divisor;
use crate::layout::geometry::Geometry;
use nacre_kernel::state::State;

/// State of the allocation of pages to planes.
#[derive(State)]
pub(crate) struct PlaneAllocation {
    /// Whether the next page goes to the die that is free first. Otherwise, the address of the page
    /// determines its plane.
    #[state(skip = "from the configuration")]
    pub(crate) is_dynamic: bool,
    #[state(skip = "from the configuration")]
    by_page: Divisor,
    #[state(skip = "from the configuration")]
    by_regions: Divisor,
    /// Planes in the order of consecutive pages; a single entry if superblocks span all dies.
    #[state(skip = "from the configuration")]
    pub(crate) in_order: Vec<u32>,
    /// For each placement handle: position in `in_order` at which the search for the next free die starts.
    pub(crate) turns: Vec<u32>,
    /// For each placement handle and die: index of the plane in the die that received the last page.
    pub(crate) last_planes: Vec<u32>,
}

impl PlaneAllocation {
    /// Creates the allocation for the validated configuration `config`.
    pub(crate) fn new(config: &Config, geometry: &Geometry) -> PlaneAllocation {
        let mapping = config.mapping();
        let is_dynamic = matches!(mapping.allocation, Allocation::Dynamic(_));
        let handles = if is_dynamic { mapping.handles() as usize } else { 0 };
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

    /// Returns the plane that the address of `unit` determines, and the number of pages with lower
    /// addresses in this plane.
    pub(crate) fn by_address(&self, unit: u64) -> (usize, u64) {
        let (page, _) = self.by_page.divide_wide(unit);
        let (before, turn) = self.by_regions.divide_wide(page);
        (self.in_order[turn as usize] as usize, before)
    }
}

/// Returns the planes of `config`. The first dimension of `order` varies fastest.
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
