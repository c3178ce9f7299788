//! Choices with settings of their own: slots whose rooms are settings alone.

use nacre_config::{Descriptor, Families, Family, FieldType, Node, Reader, Slot, Table, room_of};

/// What such a room is read with: its settings hold no rooms.
#[derive(Clone, Copy, Debug)]
pub struct NoRooms;

impl Families for NoRooms {
    fn descriptor(&self, _family: &str, _kind: &str) -> Option<&'static Descriptor> {
        None
    }

    fn kinds(&self, _family: &str) -> Vec<&'static str> {
        Vec::new()
    }
}

/// Reads the room that `node` names. Mistakes go to `reader`; `None` if there was one.
pub(crate) fn read_kind<F>(rooms: &'static Table<F>, node: &Node, reader: &mut Reader<'_>) -> Option<F::Built>
where
    F: for<'a> Family<Context<'a> = NoRooms>,
{
    let slot = Slot::<F>::read(node, reader)?;
    (room_of(rooms, &slot).build)(&slot, &mut NoRooms).ok()
}
