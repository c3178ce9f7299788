//! Finds the intact and the lost data of an image without a model of its device.

use crate::disk::{self, Disk};
use crate::error::{ImageError, Problem};
use crate::extents::{Extents, Programmed};
use crate::geometry::Geometry;
use crate::image::{load_checkpoint, read_copy};
use crate::journal::{self, Contents};
use crate::superblock::{self, Copies, Superblock};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Maximum number of damaged pages that are listed. Additional pages are only counted.
const NAMED: usize = 1000;

/// Result of checking an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Identity of the device, as lines `path = value`.
    pub identity: String,
    /// Geometry of the pages.
    pub geometry: Geometry,
    /// For each copy of the superblock, whether the copy is intact.
    pub superblocks: [bool; 2],
    /// Number of bytes missing at the end of the file.
    pub cut_short: u64,
    /// Reason why the checkpoint is unusable, or `None` if it is usable or if there is no checkpoint.
    pub checkpoint: Option<String>,
    /// For each copy of the checkpoint, whether the copy is intact. Both values are true if there is no
    /// checkpoint.
    pub checkpoint_copies: [bool; 2],
    /// Result of checking the pages in the checkpoint.
    pub pages: PagesChecked,
    /// Result of checking the journal since the checkpoint.
    pub journal: JournalChecked,
}

/// Result of checking the pages of the medium.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PagesChecked {
    /// Number of programmed pages.
    pub programmed: u64,
    /// Whether the pages have checksums. Without checksums, damage is undetectable.
    pub are_checked: bool,
    /// Number of damaged pages.
    pub damaged: u64,
    /// Numbers of the first 1000 damaged pages.
    pub named: Vec<u64>,
}

/// Result of checking the journal since the checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalChecked {
    /// Number of records that can be replayed.
    pub records: u64,
    /// Whether an incomplete record follows these records, e.g. after a kill. In this case, no guaranteed
    /// data is lost.
    pub is_torn: bool,
    /// Reason why later records that were on the disk cannot be replayed; `None` if there are no such
    /// records.
    pub damage: Option<String>,
    /// Number of intact records after the damage. These records are lost.
    pub lost: u64,
}

impl Checked {
    /// Returns whether all guaranteed data is present.
    pub fn is_good(&self) -> bool {
        self.superblocks == [true; 2]
            && self.cut_short == 0
            && self.checkpoint.is_none()
            && self.checkpoint_copies == [true; 2]
            && self.pages.damaged == 0
            && self.journal.damage.is_none()
    }

    /// Returns whether a repaired copy can be created: the device state is intact, or there is none.
    pub fn can_be_repaired(&self) -> bool {
        self.checkpoint.is_none() || self.geometry.raw_bytes > 0
    }
}

/// Callback that a long operation on an image calls repeatedly. If the callback returns a break, the
/// operation stops.
pub type Watch<'a> = dyn FnMut() -> ControlFlow<()> + 'a;

/// Returns an error if `watch` stops the operation.
pub(crate) fn continues(watch: &mut Watch<'_>) -> io::Result<()> {
    if watch().is_break() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
}

/// Reads every relevant byte of the image at `path` without changing the file.
///
/// Returns an error if the image does not exist, is open elsewhere, has another format, or has no intact
/// superblock, or `watch` stopped the check.
pub fn check(path: &Path, watch: &mut Watch<'_>) -> Result<Checked, ImageError> {
    let file = disk::open_locked_read_only(path).map_err(|problem| ImageError::new(path, problem))?;
    inspect(&file, watch).map(|inspected| inspected.checked).map_err(|problem| ImageError::new(path, problem))
}

/// An open image with the result of its check.
pub(crate) struct Inspected {
    pub(crate) superblock: Superblock,
    pub(crate) extents: Extents,
    /// The device state at the checkpoint, or `None` if there is no usable checkpoint.
    pub(crate) state: Option<Vec<u8>>,
    /// Number of bytes of the journal that can be replayed.
    pub(crate) journal_bytes: u64,
    pub(crate) checked: Checked,
}

pub(crate) fn inspect(disk: &dyn Disk, watch: &mut Watch<'_>) -> Result<Inspected, Problem> {
    let Copies { newest: superblock, good } = superblock::read_copies(disk)?;
    let mut checked = Checked {
        identity: superblock.identity.clone(),
        geometry: superblock.geometry,
        superblocks: good,
        cut_short: 0,
        checkpoint: None,
        checkpoint_copies: [true; 2],
        pages: PagesChecked { are_checked: superblock.has_checksums, ..PagesChecked::default() },
        journal: JournalChecked::default(),
    };
    let empty = || Extents::new(superblock.geometry, superblock.raw_end(), superblock.has_checksums);
    let mut extents = empty();
    let mut state = None;
    let mut needed = superblock.raw_end();
    if let Some(checkpoint) = &superblock.checkpoint {
        needed = needed.max(checkpoint.end());
        checked.checkpoint_copies =
            checkpoint.offsets.map(|offset| read_copy(disk, checkpoint, offset).is_ok());
        match load_checkpoint(disk, checkpoint, &mut extents) {
            Ok(loaded) => state = Some(loaded),
            Err(problem) => {
                extents = empty();
                checked.checkpoint = Some(problem.to_string());
            }
        }
        needed = needed.max(extents.needed_length());
    }
    let length = disk.length().map_err(|error| Problem::io("reading its length", &error))?;
    checked.cut_short = needed.saturating_sub(length);
    check_pages(disk, &extents, &mut checked.pages, watch)?;
    let (found, damage) = journal::read_as_far_as_it_is_good(disk, &superblock)?;
    let Contents { records, bytes, torn } = found;
    checked.journal = JournalChecked {
        records: records.count(),
        is_torn: torn,
        lost: damage.as_ref().map_or(Ok(0), |_| journal::good_behind(disk, &superblock, bytes))?,
        damage: damage.map(|problem| problem.to_string()),
    };
    Ok(Inspected { superblock, extents, state, journal_bytes: bytes, checked })
}

/// Checks every programmed page that has a checksum. A page that is missing from the file counts as
/// damaged.
fn check_pages(
    disk: &dyn Disk,
    extents: &Extents,
    found: &mut PagesChecked,
    watch: &mut Watch<'_>,
) -> Result<(), Problem> {
    let mut bytes = vec![0; extents.page_bytes()];
    for Programmed { page, offset, checksum } in extents.programmed() {
        found.programmed += 1;
        let Some(checksum) = checksum else { continue };
        bytes.fill(0);
        let read = continues(watch).and_then(|()| disk.read_at(offset, &mut bytes));
        read.map_err(|error| Problem::io("reading a page", &error))?;
        if crc32fast::hash(&bytes) != checksum {
            found.damaged += 1;
            if found.named.len() < NAMED {
                found.named.push(page);
            }
        }
    }
    Ok(())
}
