//! The programmable controller, which can switch rows to SLC mode and use stronger codes.

use crate::frames::ModeRules;
use nacre_config::Configuration;
use nacre_kernel::{Energy, Time};

/// A controller that changes the mode of rows and the code of pages.
#[derive(Clone, Debug, Configuration)]
pub struct Controller {
    /// Time to read a page in SLC mode.
    #[config(
        default = "62.5 ns",
        max = "1 s",
        source = "assumed: half of the time in MLC mode, as for flash (roberts-2009 section II.A: 25 and 50 us)"
    )]
    pub slc_read: Time,
    /// Time to write a page in SLC mode.
    #[config(
        default = "13.9 us",
        max = "1 s",
        source = "assumed: 250/900 of the time in MLC mode, as for flash (roberts-2009 section II.A)"
    )]
    pub slc_write: Time,
    /// Rated number of writes of a row in SLC mode.
    #[config(
        default = 100_000_000_000,
        min = 1,
        max = 1_000_000_000_000_000,
        source = "assumed: 10 times as many as in MLC mode, as for flash (roberts-2009 section II.A)"
    )]
    pub slc_endurance: u64,
    /// Energy to read a page in SLC mode.
    pub slc_read_energy: Option<Energy>,
    /// Energy to write a page in SLC mode.
    pub slc_write_energy: Option<Energy>,
    /// Change rows to SLC mode if a page has at least as many bit errors as its code corrects.
    #[config(
        default = true,
        source = "paper: roberts-2009 section IV: once cells wear out, by mode or code"
    )]
    pub lowers_density: bool,
    /// Change rows with frequently used pages to SLC mode.
    #[config(default = true, source = "paper: roberts-2009 section IV: switches triggered by the workload")]
    pub promotes: bool,
    /// Number of hits after which the row of a page changes to SLC mode.
    #[config(default = 63, min = 1, max = 65535, source = "assumed: as for flash")]
    pub promotes_at: u32,
    /// Assign a stronger code to pages with at least as many bit errors as their code corrects.
    #[config(
        default = true,
        source = "paper: roberts-2009 section IV: once cells wear out, by mode or code"
    )]
    pub raises_strength: bool,
    /// Number of bit errors that the strongest code corrects.
    #[config(default = 12, min = 1, max = 40, source = "assumed: as for flash")]
    pub strongest: u32,
}

impl Controller {
    /// Returns the rules for switching rows between modes. `mlc_read` is the time to read a page in MLC mode.
    pub(super) fn rules(&self, mlc_read: Time) -> ModeRules {
        ModeRules {
            lowers_density: self.lowers_density,
            promotes_at: self.promotes.then_some(self.promotes_at as u16),
            reads: [self.slc_read, mlc_read],
        }
    }
}
