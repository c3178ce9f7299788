//! Flexible data placement (FDP; NVMe TP4146).

use nacre_config::Configuration;

/// Flexible data placement: reclaim unit handles, through which the host separates its data.
///
/// The handles that are initially isolated come first. The tenants of a workload are assigned to the handles
/// cyclically.
#[derive(Clone, Debug, Configuration)]
pub struct FdpConfig {
    /// Number of initially isolated handles. Garbage collection mixes the data of these handles.
    #[config(default = 0, max = 128, source = "standard: a configuration lists its handles")]
    pub initially_isolated: u32,
    /// Number of persistently isolated handles. Garbage collection keeps the data of each of these handles
    /// separate.
    #[config(default = 0, max = 128, source = "standard: a configuration lists its handles")]
    pub persistently_isolated: u32,
}
