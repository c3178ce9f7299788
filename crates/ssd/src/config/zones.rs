//! Settings of zones.

use nacre_config::Configuration;

/// Zones that the host writes sequentially and resets as a whole.
#[derive(Clone, Debug, Configuration)]
pub struct ZonesConfig {
    /// Number of superblocks per zone. A superblock has one block of every plane of the zone's dies.
    #[config(default = 1, min = 1, max = 65536, source = "assumed: the erase unit")]
    pub zone_superblocks: u32,
    /// Number of dies per zone, a divisor of the number of dies. Consecutive zones are on different groups of
    /// dies. The default is all dies.
    #[config(min = 1, max = 1048576)]
    pub zone_dies: Option<u32>,
    /// Maximum number of active (partly written) zones. If the maximum is reached, a write to an empty
    /// zone is rejected.
    #[config(default = 14, min = 1, max = 65536, source = "bjorling-2021: the drive they measured")]
    pub active_zones: u32,
    /// Maximum number of open zones among the active zones. A write to another zone closes the least recently
    /// written zone that was not opened by command. The default is all active zones.
    #[config(min = 1, max = 65536)]
    pub open_zones: Option<u32>,
}
