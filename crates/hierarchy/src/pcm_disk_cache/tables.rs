//! The tables of the cache: their location, their size, and the energy of table accesses.
//!
//! A page has one entry: 8 B in the hash table (its address and its frame), and 7 B in the page status table
//! (address, code, mode, dirty bit, and hits). The hash table is searched at each request. The entry of a
//! page is updated when the page is written to its frame, and when the page leaves the cache.

use nacre_config::{Configuration, Kinds, Reader};
use nacre_kernel::state::Value;
use nacre_kernel::{Bytes, Energy, Power, Time};
use nacre_media::charge::check_together;

/// Size in bytes of a page's entry in the hash table.
pub(super) const HASH_BYTES: u64 = 8;
/// Size in bytes of a page's entry in the page status table.
pub(super) const STATUS_BYTES: u64 = 7;

/// Location of the tables.
#[derive(Clone, Debug, Kinds)]
pub enum Tables {
    /// The tables of the cache are in phase-change memory, next to the cached pages. These tables survive a
    /// power loss.
    Pcm(PcmTables),
    /// Tables in DRAM. After a power loss, the cache reads every frame to rebuild the tables from the spare
    /// bytes of all pages.
    Dram(DramTables),
}

/// Tables in phase-change memory.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check_pcm")]
pub struct PcmTables {
    /// Energy of a lookup.
    pub lookup_energy: Option<Energy>,
    /// Energy of an update of the entry of a page.
    pub update_energy: Option<Energy>,
}

/// Tables in DRAM.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check_dram")]
pub struct DramTables {
    /// Idle power of a DRAM chip, including refresh. The tables use a share of this power, in proportion to
    /// their size.
    pub idle_power: Option<Power>,
    /// Capacity of a DRAM chip.
    #[config(
        default = "128 MiB",
        min = "1 B",
        max = "1 TiB",
        source = "assumed: 1 Gbit, as in dram_disk_cache"
    )]
    pub chip: Bytes,
    /// Energy of a lookup, in addition to idle power.
    pub lookup_energy: Option<Energy>,
    /// Energy of an update of the entry of a page, in addition to idle power.
    pub update_energy: Option<Energy>,
}

fn check_pcm(tables: &PcmTables, reader: &mut Reader<'_>) {
    check_energies(
        reader,
        &[("lookup_energy", tables.lookup_energy), ("update_energy", tables.update_energy)],
    );
}

fn check_dram(tables: &DramTables, reader: &mut Reader<'_>) {
    let shown = |energy: Option<Energy>| energy.map(|energy| energy.to_string());
    let powers = [
        ("idle_power", tables.idle_power.map(|power| power.to_string())),
        ("lookup_energy", shown(tables.lookup_energy)),
        ("update_energy", shown(tables.update_energy)),
    ];
    check_together(reader, powers.into_iter());
}

fn check_energies(reader: &mut Reader<'_>, energies: &[(&str, Option<Energy>)]) {
    let shown = energies.iter().map(|(name, energy)| (*name, energy.map(|energy| energy.to_string())));
    check_together(reader, shown);
}

/// Accesses to the tables since measurement started.
#[derive(Clone, Copy, Debug, Default, Value)]
pub(super) struct TableCounts {
    pub(super) lookups: u64,
    pub(super) updates: u64,
}

impl Tables {
    /// Whether a power loss destroys the tables.
    pub(super) fn is_volatile(&self) -> bool {
        matches!(self, Tables::Dram(_))
    }

    /// Total energy of lookups and updates; `None` if unknown.
    pub(super) fn access_energy(&self, counts: TableCounts) -> Option<Energy> {
        let (lookup, update) = match self {
            Tables::Pcm(of) => (of.lookup_energy, of.update_energy),
            Tables::Dram(of) => (of.lookup_energy, of.update_energy),
        };
        Some(Energy(lookup?.0 * counts.lookups as f64 + update?.0 * counts.updates as f64))
    }

    /// Idle energy during `elapsed` of tables with a size of `bytes`; `None` if unknown.
    pub(super) fn idle_energy(&self, bytes: u64, elapsed: Time) -> Option<Energy> {
        match self {
            Tables::Pcm(_) => Some(Energy::default()),
            Tables::Dram(of) => {
                let chips = bytes as f64 / of.chip.0 as f64;
                Some(Energy(of.idle_power?.over(elapsed).0 * chips))
            }
        }
    }
}
