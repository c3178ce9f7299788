//! Injection of faults into a running device.
//!
//! The faults are those of the [`faulty`](nacre_hierarchy::faulty) device, in a [`Layer`] between the driver
//! and the device.

pub use nacre_hierarchy::faulty::Target;
pub use nacre_hierarchy::faulty::fault::Part as Fault;
pub use nacre_hierarchy::faulty::layer::{Below, Layer};

use crate::crash::NoFiles;
use crate::models::Models;
use crate::scenario::Checked;
use crate::stack::StackBuilder;
use nacre_config::{Configuration, Node, Problems, Reader, Slot};
use nacre_hierarchy::faulty::{self, kinds::FaultFamily};
use nacre_kernel::Time;

/// A TOML document that describes one fault.
#[derive(Debug, Configuration)]
struct Document {
    /// The fault.
    fault: Slot<FaultFamily>,
}

/// Reads the fault in `text`, a TOML table without its header, for the device `on` in the scenario
/// `checked`. The start of the fault is relative to `now`. Its random stream derives from the scenario's
/// seed and its `number`.
///
/// Returns all errors in the text.
pub fn read(
    checked: &Checked,
    text: &str,
    (number, now): (usize, Time),
    on: Target,
) -> Result<Fault, Problems> {
    let node = Node::parse_toml(&format!("[fault]\n{text}"), "fault")?;
    let models = Models::new();
    let mut reader = Reader::new(&models);
    let document = Document::read(&node, &mut reader);
    reader.finish()?;
    let Document { fault } = document.expect("no problem was reported");
    let mut builder = StackBuilder::new(checked, &NoFiles);
    faulty::part(&fault, &mut builder, (&format!("served[{number}]"), now), Some(on))
}
