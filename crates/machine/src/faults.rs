//! Faults that are added to a device while it runs, in the way of its requests.
//!
//! They are those of the device [`faulty`](nacre_hierarchy::faulty), in a [`Layer`] that a driver has over its device.

pub use nacre_hierarchy::faulty::fault::Part as Fault;
pub use nacre_hierarchy::faulty::layer::{Below, Layer};

use crate::crash::Nothing;
use crate::rooms::Rooms;
use crate::scenario::Checked;
use crate::stack::StackBuilder;
use nacre_config::{Configuration, Node, Problems, Reader, Slot};
use nacre_hierarchy::faulty::{self, kinds::FaultFamily};
use nacre_kernel::{Bytes, Time};

/// The document that a fault is read from.
#[derive(Debug, Configuration)]
struct Document {
    /// The fault.
    fault: Slot<FaultFamily>,
}

/// The fault that `text` describes, the inside of a TOML table, over a device of so much `capacity` of the scenario
/// `checked`. Its start counts from `now`; its draws follow from the scenario's seed and its `number`.
///
/// Errors: all errors in it.
pub fn read(
    checked: &Checked,
    text: &str,
    (number, now): (usize, Time),
    capacity: Bytes,
) -> Result<Fault, Problems> {
    let node = Node::parse_toml(&format!("[fault]\n{text}"), "fault")?;
    let rooms = Rooms::new();
    let mut reader = Reader::new(&rooms);
    let document = Document::read(&node, &mut reader);
    reader.finish()?;
    let Document { fault } = document.expect("no problem was reported");
    let mut builder = StackBuilder::new(checked, &Nothing);
    faulty::part(&fault, &mut builder, (&format!("served[{number}]"), now), Some(capacity))
}
