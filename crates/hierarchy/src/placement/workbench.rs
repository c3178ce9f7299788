//! Test helper that builds placements with given tiers and accesses.

use super::assignment::Speed;
use super::{Decider, MODELS, Placement, PlacementContext, PlacementFamily};
use crate::workbench;
use nacre_config::{Configuration, ErrorCode, Families, Node, Problem, Problems, Reader, Slot, model_of};
use nacre_device::{Accesses, SizedAccesses};

/// A document with the placement under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The placement.
    placement: Slot<PlacementFamily>,
}

struct Given {
    extents: Vec<u32>,
    speeds: Vec<Speed>,
    accesses: Vec<Vec<SizedAccesses>>,
}

impl PlacementContext for Given {
    fn families(&self) -> &dyn Families {
        &workbench::MODELS
    }

    fn extents(&self) -> &[u32] {
        &self.extents
    }

    fn speeds(&mut self, _bytes: u32) -> Result<Vec<Speed>, Problems> {
        Ok(self.speeds.clone())
    }

    fn accesses(&mut self) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
        Ok(self.accesses.clone())
    }

    fn external(&mut self, path: &str, name: &str) -> Result<Box<dyn Decider>, Problems> {
        Err(Problem::new(ErrorCode::NoFunction, path, None, "no function has this name").given(name).into())
    }
}

/// Builds the placement in `toml` over tiers with these numbers of extents, and with read and write latencies
/// in microseconds.
pub(super) fn placement(
    toml: &str,
    extents: &[u32],
    us: &[(f64, f64)],
    accesses: &[(u64, u64)],
) -> Box<dyn Placement> {
    let node = Node::parse_toml(&format!("placement = {toml}"), "test.toml").expect("well formed");
    let mut reader = Reader::new(&workbench::MODELS);
    let slot = Document::read(&node, &mut reader).expect("legal settings").placement;
    let speed = |&(read, write): &(f64, f64)| Speed { read_s: read * 1e-6, write_s: write * 1e-6 };
    let mut given = Given {
        extents: extents.to_vec(),
        speeds: us.iter().map(speed).collect(),
        accesses: of_one_size(accesses),
    };
    (model_of(MODELS, &slot).build)(&slot, &mut given).expect("it can be built")
}

/// Converts the numbers of reads and writes of each extent to [`Accesses`].
pub(super) fn counts(accesses: &[(u64, u64)]) -> Vec<Accesses> {
    accesses.iter().map(|&(reads, writes)| Accesses { reads, writes }).collect()
}

/// Converts the numbers of reads and writes of each extent to accesses of 4 KiB.
pub(super) fn of_one_size(accesses: &[(u64, u64)]) -> Vec<Vec<SizedAccesses>> {
    let counts = counts(accesses).into_iter();
    let sized = |of: Accesses| SizedAccesses { bytes: 4096, of };
    counts.map(|of| Vec::from_iter((of != Accesses::default()).then_some(sized(of)))).collect()
}
