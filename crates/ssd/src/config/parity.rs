//! Settings of parity within superblocks.

use nacre_config::Configuration;

/// Parity over pages of different dies.
#[derive(Clone, Debug, Configuration)]
pub struct ParityConfig {
    /// Dies of a stripe, one of which holds its parity: 8 is 7 + 1, and an eighth of the flash is parity. A divisor of
    /// all dies; absent means all of them.
    #[config(min = 2, max = 1048576)]
    pub stripe: Option<u32>,
}
