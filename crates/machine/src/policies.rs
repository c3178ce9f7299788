//! Replacement policies without a device, and the types that user policies need.

use crate::models::Models;
use nacre_config::{FieldType, Node, Origin, Problems, Reader, Slot, model_of};
use nacre_hierarchy::replacement::{Context, MODELS, ReplacementFamily};

pub use nacre_hierarchy::placement::{Decider, Exchange, View as PlacementView};
pub use nacre_hierarchy::replacement::{Access, Brought, Replacement};

/// Creates a cache of `blocks` blocks with the policy in `text`. `blocks` must not be zero. `text` is a
/// policy name or a table of settings, as in a scenario.
pub fn cache(text: &str, blocks: u64) -> Result<Box<dyn Replacement>, Problems> {
    let models = Models::new();
    let origin = Origin::Override(format!("policy={text}").into());
    let mut reader = Reader::at(&models, "policy");
    let slot = Slot::<ReplacementFamily>::read(&Node::parse_value(text, &origin), &mut reader);
    reader.finish()?;
    let slot = slot.expect("a slot without problems was read");
    let capacity = usize::try_from(blocks).unwrap_or(usize::MAX);
    (model_of(MODELS, &slot).build)(&slot, &mut Context { families: &models, capacity })
}
