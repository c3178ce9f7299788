//! What can be wrong with an image, and what to do about it.

use super::header::VERSION;
use nacre_image::{Difference, list};
use std::io;
use std::path::{Path, PathBuf};

/// An image that cannot be used. Finding out changed nothing in it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct ImageError {
    /// The image.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

impl ImageError {
    pub(crate) fn new(path: &Path, problem: Problem) -> ImageError {
        ImageError { path: path.to_path_buf(), problem }
    }
}

/// What is wrong with an image, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A server that takes no writes makes no image.
    #[error("there is no image; serve it once without --read-only, or check the path")]
    Missing,
    /// Something is in the way of a snapshot.
    #[error("there is already a file of this name; remove it, or choose another name")]
    Exists,
    /// A file beside the image has a name that is needed, and is something else.
    #[error("{} is something else, and a server of this image needs the name; move it elsewhere", .0.display())]
    Foreign(PathBuf),
    /// Another process has it.
    #[error("another process has it open, and only one may; end that one first")]
    Locked,
    /// Something else.
    #[error("it is not the image of a served device; name another file, or one that is not there yet")]
    NotAnImage,
    /// Of another version.
    #[error("its format is version {0}, and this Nacre knows version {VERSION}; use the Nacre it is from")]
    OtherVersion(u32),
    /// Both copies of the header are damaged or cut short.
    #[error("both copies of its header are damaged; restore it from a copy")]
    HeaderDamaged,
    /// Of another device.
    #[error(
        "it holds the device of {found:?}, and {asked:?} was asked for: {}; serve the scenario it was made \
         for with the settings it was made with, or name another image", list(.differences)
    )]
    OtherDevice {
        /// The scenario it was made for.
        found: String,
        /// The scenario that is to be served.
        asked: String,
        /// The settings in which they differ.
        differences: Vec<Difference>,
    },
    /// Of a device of another size.
    #[error(
        "it holds a device of {found} bytes, and the scenario describes one of {expected}; use the scenario it \
         was made for, or another image"
    )]
    OtherSize {
        /// Of the image.
        found: u64,
        /// Of the scenario.
        expected: u64,
    },
    /// The file is shorter than the device.
    #[error("it is cut short: {found} of {expected} bytes are there; restore it from a copy")]
    CutShort {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// An entry of the journal is damaged and good ones follow.
    #[error(
        "entry {entry} of its journal is damaged, at byte {at}, and good ones follow it; restore it from a copy. \
         The {bytes} bytes of the device are not concerned: they lie from byte {data} of the file on"
    )]
    JournalDamaged {
        /// Which.
        entry: u64,
        /// Where in the file.
        at: u64,
        /// Bytes of the device.
        bytes: u64,
        /// Where they begin.
        data: u64,
    },
    /// The journal asks for what the device cannot do.
    #[error("entry {entry} of its journal does not fit its device: {detail}; restore it from a copy")]
    JournalUnfit {
        /// Which.
        entry: u64,
        /// What is wrong.
        detail: &'static str,
    },
    /// Simulated time ends.
    #[error("its device is {days} days old, and simulated time ends there; begin with a new image")]
    EndOfTime {
        /// Its age.
        days: u64,
    },
    /// A server was killed while it took bytes back, and this one may not write.
    #[error(
        "a power failure was being carried out when its server was killed; serve it once without --read-only"
    )]
    Interrupted,
    /// The text that tells devices apart does not fit into a header.
    #[error(
        "the settings of its device take {found} bytes, and a header has room for {limit}; shorten names in them"
    )]
    IdentityTooLong {
        /// Its bytes.
        found: usize,
        /// The most that fit.
        limit: usize,
    },
    /// The device is too large.
    #[error("a device of {0} bytes has no image: 2^56 are the most")]
    TooLarge(u64),
    /// Playing the journal back was stopped.
    #[error("opening it was stopped; nothing was changed")]
    Stopped,
    /// No room on the disk.
    #[error("no room on the disk; free some, or name a file on another one")]
    DiskFull,
    /// The system refuses.
    #[error("{0}")]
    System(io::Error),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Problem::DiskFull
            }
            _ => Problem::System(error),
        }
    }
}
