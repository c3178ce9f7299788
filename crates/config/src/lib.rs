//! Configuration: how a room says what it needs, and how a user's document is read and checked.
//!
//! A room's configuration is a plain struct with `#[derive(Configuration)]`. That struct is the only
//! truth: reading, checking, defaults, JSON Schema, Python classes and the model reference all come
//! from it. A document is a tree of [`Node`]s, each of which knows where it came from.
//!
//! | module | holds |
//! |---|---|
//! | [`node`] | the document tree, its origins, reading it from TOML, overriding it by path |
//! | [`field`] | what a field may hold: shapes, literals, bounds, and the types that can be fields |
//! | [`reader`] | one pass over a document that collects every mistake at once |
//! | [`room`] | rooms, the families they belong to, and slots that hold one |
//! | [`problem`] | a user's mistake, with its place and remedy |

pub mod field;
pub mod node;
pub mod problem;
pub mod reader;
pub mod room;

pub use field::{Configuration, Field, FieldType, Literal, Shape};
pub use nacre_config_derive::{Choice, Configuration};
pub use node::{Node, Origin, Value};
pub use problem::{Problem, Problems, both};
pub use reader::{Reader, Resolved};
pub use room::{CountOr, Descriptor, Families, Family, Room, Slot, Table, room_of};

// The derived code names this crate by its outside name; the tests derive inside it.
#[cfg(test)]
extern crate self as nacre_config;
#[cfg(test)]
mod tests;
