//! Configuration: declarations of settings, and reading and checking of documents.
//!
//! The configuration of a room is a plain struct with `#[derive(Configuration)]`. Reading, checking,
//! defaults, JSON Schema, Python classes and the model reference are all generated from this struct. A
//! document is a tree of [`Node`]s with their origins.
//!
//! | module | holds |
//! |---|---|
//! | [`origin`] | origins of values |
//! | [`problem`] | a user's error, with its location and remedy |
//! | [`node`] | the document tree, reading it from TOML, overriding it by path |
//! | [`shape`] | types of fields: shapes, literals, bounds |
//! | [`reader`] | one pass over a document that collects every error at once, and the descriptors of rooms |
//! | [`field`] | the types that can be fields |
//! | [`priority`] | arbitration settings shared by several rooms |
//! | [`room`] | rooms, the families they belong to, and slots that hold one |

pub mod field;
pub mod node;
pub mod origin;
pub mod priority;
pub mod problem;
pub mod reader;
pub mod room;
pub mod shape;

pub use field::{Configuration, FieldType, read_kind, read_short};
pub use nacre_config_derive::{Choice, Configuration, Kinds};
pub use nacre_kernel::{Datum, ErrorCode};
pub use node::{Node, Value};
pub use origin::Origin;
pub use problem::{Problem, Problems, both};
pub use reader::{Descriptor, Families, Mark, Reader, Resolved};
pub use room::{CountOr, Family, Room, Slot, Table, room_of};
pub use shape::{Field, Kind, Literal, Shape, Use, kinds_within, placed, used};

// Code from the derive macros refers to this crate by its name.
extern crate self as nacre_config;
#[cfg(test)]
mod tests;
