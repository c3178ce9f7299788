//! A mapping table in flash: its pages are programmed and moved like data.

mod moved;
mod planes;
