//! Where pages of the host's data go: one room for each way to allocate them.

pub mod dynamic;
pub mod r#static;
pub mod superblock;

use crate::kind::{NoRooms, read_kind};
use nacre_config::{Family, FieldType, Node, Reader, Shape, Table};

/// The family of allocations.
#[derive(Debug)]
pub struct AllocationFamily;

impl Family for AllocationFamily {
    const NAME: &'static str = "allocation";
    type Built = Allocation;
    type Context<'a> = NoRooms;
}

/// The allocations, in the order users see them.
pub static ROOMS: &Table<AllocationFamily> = &[superblock::ROOM, r#static::ROOM, dynamic::ROOM];

/// Where a page of the host's data goes.
#[derive(Clone, Debug)]
pub enum Allocation {
    /// To the next die in turn: superblocks are filled in stripes and cleaned.
    Superblock(superblock::Config),
    /// To the plane that its address says. Each plane is filled and cleaned by itself.
    Static(r#static::Config),
    /// To a plane of the die that is free first. Each plane is filled and cleaned by itself.
    Dynamic(dynamic::Config),
}

impl FieldType for Allocation {
    fn shape() -> Shape {
        Shape::Slot(AllocationFamily::NAME)
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Allocation> {
        read_kind(ROOMS, node, reader)
    }
}

impl Allocation {
    /// Whether each plane is filled and cleaned by itself.
    pub(crate) fn is_by_plane(&self) -> bool {
        !matches!(self, Allocation::Superblock(_))
    }

    /// Whether pages that move stay in their plane.
    pub(crate) fn copies_inside(&self) -> bool {
        match self {
            Allocation::Superblock(_) => false,
            Allocation::Static(config) => config.copyback,
            Allocation::Dynamic(config) => config.copyback,
        }
    }

    /// Dies of a stripe, that of its parity included, of a drive with so many `dies`, where there is parity.
    pub(crate) fn stripe(&self, dies: u32) -> Option<u32> {
        match self {
            Allocation::Superblock(config) => Some(config.parity.as_ref()?.stripe.unwrap_or(dies)),
            Allocation::Static(_) | Allocation::Dynamic(_) => None,
        }
    }
}
