//! Tiers whose extents move as a test specifies.

use crate::placement::{Exchange, Placement, View};
use crate::tiers::Config;
use crate::tiers::{model::Tiers, tier::Tier};
use crate::workbench::MODELS;
use nacre_kernel::event::Device;
use nacre_kernel::state::State;
use nacre_kernel::{ComponentId, Time};
use nacre_testkit::Workbench;

/// Size of an extent, in bytes.
pub(super) const EXTENT: u64 = 16 << 10;
/// Size of a chunk, in bytes.
pub(super) const CHUNK: u64 = 4 << 10;

/// A placement with a fixed list of decisions, one for each epoch.
#[derive(State)]
pub(super) struct Scripted {
    #[state(skip = "as it was built")]
    pub(super) homes: Vec<u8>,
    #[state(skip = "as it was built")]
    pub(super) epoch: Time,
    #[state(skip = "as it was built")]
    pub(super) script: Vec<Vec<Exchange>>,
    pub(super) decided: usize,
}

impl Placement for Scripted {
    fn start(&self) -> Vec<u8> {
        self.homes.clone()
    }

    fn epoch(&self) -> Option<Time> {
        Some(self.epoch)
    }

    fn decide(&mut self, _view: &View<'_>, moves: &mut Vec<Exchange>) {
        moves.extend(self.script.get(self.decided).into_iter().flatten());
        self.decided += 1;
    }
}

/// Creates tiers over `devices`, each of which is given with its number of extents.
pub(super) fn tiers(devices: Vec<(Box<dyn Device>, u32)>, placement: Scripted, bandwidth: u64) -> Tiers {
    let toml = format!(
        "kind = \"tiers\"\nextent = \"{EXTENT} B\"\nchunk = \"{CHUNK} B\"\nmigration_bandwidth = \"{bandwidth} B/s\"\n\
         [[device.tier]]\ndevice = {{ kind = \"measured\", read = \"1 us\", write = \"1 us\" }}\n"
    );
    let config: Config = Workbench::new(MODELS, 1).slot(&toml).expect("it is right").config(&MODELS);
    let tiers = devices.into_iter().map(|(device, extents)| Tier::new(device, extents, 1.0)).collect();
    Tiers::new(ComponentId(90), "stack".into(), &config, tiers, Box::new(placement))
}
