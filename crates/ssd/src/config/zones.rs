//! Settings of zones.

use nacre_config::Configuration;

/// Zones that the host writes sequentially and resets as a whole.
#[derive(Clone, Debug, Configuration)]
pub struct ZonesConfig {
    /// Superblocks per zone, each one block of every plane of every die.
    #[config(default = 1, min = 1, max = 65536, source = "assumed: what is erased as a whole")]
    pub zone_superblocks: u32,
    /// Zones that may be written in part at one time, of those there are. A write to another one is refused.
    #[config(default = 14, min = 1, max = 65536, source = "bjorling-2021: the drive they measured")]
    pub active_zones: u32,
    /// Of these, zones that are open at one time: a write to another one closes that which was written longest ago. Absent
    /// means all of them.
    #[config(min = 1, max = 65536)]
    pub open_zones: Option<u32>,
}
