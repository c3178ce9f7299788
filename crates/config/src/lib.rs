//! Configuration: how a room says what it needs, and how a user's document is read and checked.
//!
//! A room's configuration is a plain struct with `#[derive(Configuration)]`. That struct is the only
//! truth: reading, checking, defaults, JSON Schema, Python classes and the model reference all come
//! from it. A document is a tree of [`Node`]s, each of which knows where it came from.
//!
//! | module | holds |
//! |---|---|
//! | [`origin`] | where a value came from |
//! | [`problem`] | a user's error, with its place and remedy |
//! | [`node`] | the document tree, reading it from TOML, overriding it by path |
//! | [`shape`] | what a field may hold: shapes, literals, bounds |
//! | [`reader`] | one pass over a document that collects every error at once, and the descriptors of rooms |
//! | [`field`] | the types that can be fields |
//! | [`priority`] | settings of arbitration that several rooms have |
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

// The derived code names this crate by its outside name.
extern crate self as nacre_config;
#[cfg(test)]
mod tests;
