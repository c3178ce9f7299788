//! Disk faults that change the synced data of a file.

use super::{Followed, SECTOR, sectors, write};
use nacre_kernel::Random;
use std::ops::Range;
use std::sync::Arc;

/// Disk fault that damages a write after a sync has confirmed the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MediumFault {
    /// One bit changed.
    BitRot,
    /// No byte of the write reached the disk.
    LostWrite,
    /// Only some sectors were written.
    TornWrite,
    /// The data was written over another range of the file.
    MisdirectedWrite,
}

impl MediumFault {
    /// All faults.
    pub const ALL: [MediumFault; 4] =
        [MediumFault::BitRot, MediumFault::LostWrite, MediumFault::TornWrite, MediumFault::MisdirectedWrite];

    /// Returns the name of the fault. Media faults of a device have the same names.
    pub fn name(self) -> &'static str {
        match self {
            MediumFault::BitRot => "bit_rot",
            MediumFault::LostWrite => "lost_write",
            MediumFault::TornWrite => "torn_write",
            MediumFault::MisdirectedWrite => "misdirected_write",
        }
    }
}

/// Effect of a disk fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harm {
    /// The fault.
    pub fault: MediumFault,
    /// Byte range of the affected write in the file.
    pub range: Range<u64>,
    /// Byte range that a misdirected write overwrote, or `None` for other faults.
    pub overwritten: Option<Range<u64>>,
}

/// Part of a synced write that no later write has changed.
#[derive(Debug)]
pub(super) struct Landed {
    offset: u64,
    /// Content of the disk before the write.
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Landed {
    fn end(&self) -> u64 {
        self.offset + self.after.len() as u64
    }

    fn overlaps(&self, offset: u64, bytes: usize) -> bool {
        self.offset < offset + bytes as u64 && offset < self.end()
    }
}

impl Followed {
    /// Records that `part` is about to be written to the disk at `offset`.
    pub(super) fn land(&mut self, offset: u64, part: &[u8]) {
        self.landed.retain(|earlier| !earlier.overlaps(offset, part.len()));
        let start = self.durable.len().min(offset as usize);
        let mut before = self.durable[start..self.durable.len().min(start + part.len())].to_vec();
        before.resize(part.len(), 0);
        self.landed.push(Arc::new(Landed { offset, before, after: part.to_vec() }));
    }

    /// Injects `fault` into a random synced write within `part` of the file. `bytes` is the content of the
    /// file after a kill or a power loss. Returns the effect, or `None` if no write in the range can have
    /// this fault.
    pub fn harm(
        &self,
        bytes: &mut Vec<u8>,
        fault: MediumFault,
        part: Range<u64>,
        chance: &mut Random,
    ) -> Option<Harm> {
        let is_open = |landed: &Landed| {
            !self.pending.iter().any(|(offset, written)| landed.overlaps(*offset, written.len()))
        };
        let can_tear = |landed: &Landed| sectors(landed.offset, landed.after.len()).count() > 1;
        let fits = |landed: &&Arc<Landed>| {
            part.contains(&landed.offset)
                && landed.end() <= bytes.len() as u64
                && is_open(landed)
                && (fault != MediumFault::TornWrite || can_tear(landed))
        };
        let candidates: Vec<&Arc<Landed>> = self.landed.iter().filter(fits).collect();
        let landed = candidates.get(chance.below(candidates.len().max(1) as u64) as usize)?;
        let (range, mut overwritten) = (landed.offset..landed.end(), None);
        match fault {
            MediumFault::BitRot => {
                let at = landed.offset as usize + chance.below(landed.after.len() as u64) as usize;
                bytes[at] ^= 1 << chance.below(8);
            }
            MediumFault::LostWrite => write(bytes, landed.offset, &landed.before),
            MediumFault::TornWrite => landed.tear(bytes, chance),
            MediumFault::MisdirectedWrite => {
                let other = &self.landed[chance.below(self.landed.len() as u64) as usize];
                let sector = SECTOR as u64;
                let to = other.offset / sector * sector + landed.offset % sector;
                let fitting = landed.after.len().min((bytes.len() as u64).saturating_sub(to) as usize);
                write(bytes, landed.offset, &landed.before);
                write(bytes, to, &landed.after[..fitting]);
                overwritten = Some(to..to + fitting as u64);
            }
        }
        Some(Harm { fault, range, overwritten })
    }
}

impl Landed {
    /// Tears the write: at least one of its sectors is new, and at least one has its previous content.
    fn tear(&self, bytes: &mut Vec<u8>, chance: &mut Random) {
        let sectors: Vec<Range<usize>> = sectors(self.offset, self.after.len()).collect();
        let lost = chance.below(sectors.len() as u64);
        let kept = (lost + 1 + chance.below(sectors.len() as u64 - 1)) % sectors.len() as u64;
        for (number, sector) in (0..).zip(sectors) {
            if number == lost || number != kept && chance.chance(0.5) {
                write(bytes, self.offset + sector.start as u64, &self.before[sector]);
            }
        }
    }
}
