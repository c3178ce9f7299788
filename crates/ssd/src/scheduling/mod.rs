//! Which of the operations that wait for a die is next: one room for each policy.

pub mod in_order;
pub mod read_priority;
pub mod suspension;

use crate::kind::{NoRooms, read_kind};
use nacre_config::{Family, FieldType, Node, Reader, Shape, Table};

/// The family of policies.
#[derive(Debug)]
pub struct FlashSchedulingFamily;

impl Family for FlashSchedulingFamily {
    const NAME: &'static str = "flash_scheduling";
    type Built = Scheduling;
    type Context<'a> = NoRooms;
}

/// The policies, in the order users see them.
pub static ROOMS: &Table<FlashSchedulingFamily> = &[read_priority::ROOM, suspension::ROOM, in_order::ROOM];

/// Order of the operations that wait for a die.
#[derive(Clone, Debug)]
pub enum Scheduling {
    /// Reads of the host go before everything that waits.
    ReadPriority(read_priority::Config),
    /// They also suspend what the die has begun.
    Suspension(suspension::Config),
    /// What was issued first.
    InOrder(in_order::Config),
}

impl FieldType for Scheduling {
    fn shape() -> Shape {
        Shape::Slot(FlashSchedulingFamily::NAME)
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Scheduling> {
        read_kind(ROOMS, node, reader)
    }
}

impl Scheduling {
    /// Whether reads of the host go before everything that waits.
    pub(crate) fn has_read_priority(&self) -> bool {
        !matches!(self, Scheduling::InOrder(_))
    }

    /// Whether planes of a die read for the host each by itself.
    pub(crate) fn reads_by_plane(&self) -> bool {
        match self {
            Scheduling::ReadPriority(config) => config.independent_planes,
            Scheduling::Suspension(config) => config.independent_planes,
            Scheduling::InOrder(_) => false,
        }
    }

    /// How programs and erases are suspended, if they are.
    pub(crate) fn suspension(&self) -> Option<&suspension::Config> {
        match self {
            Scheduling::Suspension(config) => Some(config),
            Scheduling::ReadPriority(_) | Scheduling::InOrder(_) => None,
        }
    }
}
