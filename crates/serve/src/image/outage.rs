//! Carrying a loss of power out so that a kill in the middle of it does no harm.
//!
//! What is to be put back is first written to a file beside the image. Then the journal gets its entry: from now
//! on the power has failed. Then the bytes are put back and the file beside goes. Opening an image whose journal
//! ends with this entry does it again; the file beside without the entry never happened.

use super::fresh::{beside, open_own};
use super::{Entry, Image, Problem};
use crate::undo::{Old, Piece};
use nacre_kernel::state::{StateReader, StateWriter};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const SECTION: &str = "NACREOUT";
/// What the file beside begins with: the section's name with its length.
const MARK: &[u8; 16] = b"\x08\0\0\0\0\0\0\0NACREOUT";

impl Image {
    /// Puts `pieces` back, in this order. `failure` becomes entry `number` of the journal.
    pub(crate) fn take_back(&self, pieces: &[Piece], number: u64, failure: Entry) -> io::Result<()> {
        let path = file_of(&self.path);
        if !pieces.is_empty() {
            write(&path, &encode(pieces, number)).map_err(io::Error::other)?;
        }
        self.push(failure);
        // From here on it has to be finished, by the next process if not by this one.
        let committed = self.commit();
        committed.and_then(|_| self.finish(pieces, &path)).inspect_err(|_| self.give_up())
    }

    fn finish(&self, pieces: &[Piece], path: &Path) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| self.put_back(piece))?;
        self.sync()?;
        if pieces.is_empty() { Ok(()) } else { std::fs::remove_file(path) }
    }
}

/// Finishes a loss of power that was being carried out, with what [`pending`] found, and forgets one that did not
/// happen.
pub(super) fn complete(image: &Image, pending: Option<&[Piece]>) -> Result<(), Problem> {
    let path = file_of(&image.path);
    match pending {
        Some(pieces) => Ok(image.finish(pieces, &path)?),
        None => forget(&path),
    }
}

/// What a loss of power that is still to be carried out puts back. `failed` is the number of the journal's last entry
/// if this is the one of a loss of power. Errors: the file beside the image is none of a server's, among others.
pub(super) fn pending(image: &Path, failed: Option<u64>) -> Result<Option<Vec<Piece>>, Problem> {
    let Some(mut file) = open_own(&file_of(image), MARK, false)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let decoded = decode(&bytes).filter(|&(entry, _)| failed == Some(entry));
    Ok(decoded.map(|(_, pieces)| pieces))
}

/// Writes the file beside. What came to nothing before goes; a foreign file and a link stay.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    forget(path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all())?;
    Ok(())
}

/// Removes the file beside, if it is a server's.
fn forget(path: &Path) -> Result<(), Problem> {
    if open_own(path, MARK, false)?.is_some() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

fn file_of(image: &Path) -> PathBuf {
    beside(image, ".outage")
}

pub(crate) fn encode(pieces: &[Piece], entry: u64) -> Vec<u8> {
    let mut state = StateWriter::new();
    state.section(SECTION);
    state.put_u64(entry);
    state.put_u64(pieces.len() as u64);
    for piece in pieces {
        state.put_u64(piece.offset);
        match &piece.old {
            Old::Bytes(bytes) => {
                state.put_bool(true);
                state.put_bytes(bytes);
            }
            Old::Zeroes(length) => {
                state.put_bool(false);
                state.put_u64(*length);
            }
        }
    }
    let mut bytes = state.finish();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// The entry and the pieces; `None` where writing them was interrupted.
fn decode(bytes: &[u8]) -> Option<(u64, Vec<Piece>)> {
    let (bytes, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(bytes) != u32::from_le_bytes(*sum) {
        return None;
    }
    let mut state = StateReader::new(bytes);
    state.section(SECTION).ok()?;
    let (entry, count) = (state.u64("entry").ok()?, state.u64("pieces").ok()?);
    let mut pieces = Vec::new();
    for _ in 0..count {
        let offset = state.u64("offset").ok()?;
        let old = if state.bool("stored").ok()? {
            Old::Bytes(state.bytes("bytes").ok()?.to_vec())
        } else {
            Old::Zeroes(state.u64("zeroes").ok()?)
        };
        pieces.push(Piece { offset, old });
    }
    Some((entry, pieces))
}
