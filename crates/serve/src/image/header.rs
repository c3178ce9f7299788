//! The header: what device an image holds. It is written once, when the image is made, and lies there twice.

use super::problem::Problem;
use nacre_kernel::state::{StateReader, StateWriter};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub(super) const VERSION: u32 = 1;
pub(super) const MAGIC: &[u8; 8] = b"NACREBLK";
/// Where its copies begin.
pub(super) const COPIES: [u64; 2] = [0, 512 << 10];
/// A part between the copies that neither reaches: always zeroes.
pub(super) const UNUSED: u64 = 400 << 10;
pub(super) const UNUSED_BYTES: u64 = 4096;
/// Bytes before the body.
const HEAD: usize = 24;
/// The longest body.
const BODY_MAX: usize = 256 << 10;

/// What an image says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Of the device.
    pub(super) bytes: u64,
    /// The scenario it was made for.
    pub(super) name: String,
    /// Lines `key = value` of what decides how the device behaves.
    pub(super) identity: String,
}

impl Header {
    pub(super) fn write(&self, file: &File) -> Result<(), Problem> {
        let bytes = self.encode()?;
        COPIES.iter().try_for_each(|&at| file.write_all_at(&bytes, at))?;
        Ok(())
    }

    fn encode(&self) -> Result<Vec<u8>, Problem> {
        let mut body = StateWriter::new();
        body.put_u64(self.bytes);
        body.put_bytes(self.name.as_bytes());
        body.put_bytes(self.identity.as_bytes());
        let body = body.finish();
        if body.len() > BODY_MAX {
            return Err(Problem::IdentityTooLong { found: body.len(), limit: BODY_MAX });
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        let sum = checksum(&bytes);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads it, and whether both copies are good. One is enough.
    pub(super) fn read(file: &File) -> Result<(Header, bool), Problem> {
        let [first, second] = [read_copy(file, COPIES[0])?, read_copy(file, COPIES[1])?];
        match (first, second) {
            (Ok(header), other) => {
                let are_alike = other.is_ok_and(|other| other == header);
                Ok((header, are_alike))
            }
            (Err(_), Ok(header)) => Ok((header, false)),
            (Err(Problem::NotAnImage), Err(_)) => Err(Problem::NotAnImage),
            // A version that both name is no damage.
            (Err(Problem::OtherVersion(one)), Err(Problem::OtherVersion(other))) if one == other => {
                Err(Problem::OtherVersion(one))
            }
            _ => Err(Problem::HeaderDamaged),
        }
    }
}

fn read_copy(file: &File, at: u64) -> io::Result<Result<Header, Problem>> {
    let mut bytes = vec![0; HEAD + BODY_MAX];
    let read = fill(file, &mut bytes, at)?;
    bytes.truncate(read);
    Ok(decode(&bytes))
}

fn decode(bytes: &[u8]) -> Result<Header, Problem> {
    if bytes.len() < HEAD || bytes[..8] != *MAGIC {
        return Err(Problem::NotAnImage);
    }
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    if number(8) != VERSION {
        return Err(Problem::OtherVersion(number(8)));
    }
    let length = u64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes"));
    if length > (bytes.len() - HEAD) as u64 {
        return Err(Problem::HeaderDamaged);
    }
    let bytes = &bytes[..HEAD + length as usize];
    if number(12) != checksum(bytes) {
        return Err(Problem::HeaderDamaged);
    }
    body(&bytes[HEAD..]).ok_or(Problem::HeaderDamaged)
}

fn body(bytes: &[u8]) -> Option<Header> {
    let mut body = StateReader::new(bytes);
    let device = body.u64("bytes of the device").ok()?;
    let name = String::from_utf8(body.bytes("scenario").ok()?.to_vec()).ok()?;
    let identity = String::from_utf8(body.bytes("identity").ok()?.to_vec()).ok()?;
    body.finish().ok()?;
    Some(Header { bytes: device, name, identity })
}

/// CRC-32 of a header but for its own place.
fn checksum(header: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&header[..12]);
    sum.update(&header[16..]);
    sum.finalize()
}

/// Reads at `at` until `into` is full or the file ends.
pub(super) fn fill(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match file.read_at(&mut into[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
