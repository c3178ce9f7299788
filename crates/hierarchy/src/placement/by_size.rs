//! Access times by request size in each tier, and the resulting classes of extents.

use super::PlacementContext;
use super::assignment::{Class, Speed};
use nacre_config::Problems;
use nacre_device::SizedAccesses;
use std::collections::BTreeMap;

/// Groups extents with equal accesses. Returns the extents of each group, keyed by the accesses.
pub fn alike(accesses: &[Vec<SizedAccesses>]) -> BTreeMap<&[SizedAccesses], Vec<u32>> {
    let mut members: BTreeMap<&[SizedAccesses], Vec<u32>> = BTreeMap::new();
    for (extent, of) in accesses.iter().enumerate() {
        members.entry(of).or_default().push(extent as u32);
    }
    members
}

/// Cache of the access latencies of each tier, by request size.
pub struct Speeds<'a, 'b> {
    context: &'a mut (dyn PlacementContext + 'b),
    tiers: usize,
    by_bytes: BTreeMap<u32, Vec<Speed>>,
}

impl<'a, 'b> Speeds<'a, 'b> {
    /// Creates an empty cache.
    pub fn new(context: &'a mut (dyn PlacementContext + 'b), tiers: usize) -> Self {
        Speeds { context, tiers, by_bytes: BTreeMap::new() }
    }

    /// Latency of an access of `bytes` in each tier.
    pub fn of(&mut self, bytes: u32) -> Result<&[Speed], Problems> {
        if !self.by_bytes.contains_key(&bytes) {
            self.by_bytes.insert(bytes, self.context.speeds(bytes)?);
        }
        Ok(&self.by_bytes[&bytes])
    }

    /// Computes the access times of the extents of each class in `members`.
    pub fn classes(
        &mut self,
        members: &BTreeMap<&[SizedAccesses], Vec<u32>>,
    ) -> Result<Vec<Class>, Problems> {
        let class = |(asked, of): (&&[SizedAccesses], &Vec<u32>)| {
            let mut seconds = vec![0.0; self.tiers];
            for size in *asked {
                for (seconds, tier) in seconds.iter_mut().zip(self.of(size.bytes)?) {
                    *seconds += tier.of(size.of.reads as f64, size.of.writes as f64);
                }
            }
            Ok(Class { seconds, extents: of.len() as u64 })
        };
        members.iter().map(class).collect()
    }
}
