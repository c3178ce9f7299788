//! What a mapping table in flash costs: its pages move and are programmed like data.

mod moved;
mod planes;
