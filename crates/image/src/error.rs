//! Errors of images, with remedies.

use nacre_kernel::identity::Difference;
use nacre_kernel::{ErrorCode, ErrorData};
use std::io;
use std::path::{Path, PathBuf};

/// An error of an image: the path of the image, and the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", .path.display())]
pub struct ImageError {
    /// Path of the image.
    pub path: PathBuf,
    /// The problem.
    pub problem: Problem,
}

impl ImageError {
    pub(crate) fn new(path: &Path, problem: Problem) -> ImageError {
        ImageError { path: path.to_path_buf(), problem }
    }

    /// Returns whether the disk was full. In this case, a retry may succeed.
    pub fn is_full(&self) -> bool {
        matches!(self.problem, Problem::DiskFull { .. })
    }
}

/// A problem of an image. Detecting it does not change the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The path does not exist.
    #[error("there is no image; create it first, or check the path")]
    Missing,
    /// The path of a new image exists.
    #[error("the file already exists; open it as an image, or choose another name")]
    Exists,
    /// The path of a new image is a link.
    #[error("it is a symbolic link; name the target file")]
    Linked,
    /// The path referred to another file after the file was opened.
    #[error("it was moved or replaced while it was opened; open it again")]
    Replaced,
    /// The path is not a regular file, but e.g. a directory, a socket, or a device node.
    #[error("it is {found}, not a file; give a file name for the image")]
    NotAFile {
        /// Type of the file.
        found: &'static str,
    },
    /// The file is not writable.
    #[error("it is not writable, but a device modifies its image; make it writable, or use a copy")]
    ReadOnly,
    /// Another process has the image open.
    #[error("it is open in another process; end that process first")]
    Locked,
    /// The file is not an image, or both copies of its superblock were overwritten.
    #[error(
        "it is not a Nacre image, or both copies of its superblock were overwritten: it begins with {found}, not \
         with \"NACREIMG\"; name another file"
    )]
    NotAnImage {
        /// First bytes of the file as printable text.
        found: String,
    },
    /// The file was written by an earlier version of the server, which used another format.
    #[error(
        "it has the format of an earlier Nacre, which is not supported; its data starts at byte 1,048,576 \
         of the file: serve a new image, and copy them into it with nbdcopy -- [ dd if=... bs=1M skip=1 ]"
    )]
    OldServed,
    /// The image of a device was opened as raw bytes.
    #[error(
        "it holds a modeled device, but --timing none was given; serve it with its timing, or use another \
         image"
    )]
    HoldsDevice,
    /// An image of raw bytes was opened as the image of a device.
    #[error(
        "it holds raw data (--timing none), but a modeled device was requested; serve it with --timing \
         none, or copy its data to a device with a new image"
    )]
    HoldsRawBytes,
    /// The process is a fork of the process that opened the image.
    #[error(
        "it was opened by process {by}, and this process is a fork of it; open it in the process that uses \
         it"
    )]
    OtherProcess {
        /// Number of the process that opened the image.
        by: u32,
    },
    /// The image was opened read-only.
    #[error("it is open read-only; open it for writing")]
    OpenedToRead,
    /// The creation of the image was interrupted.
    #[error("its creation was interrupted, so it holds no data; delete it and create it again")]
    Unfinished,
    /// Another version of Nacre wrote the image.
    #[error(
        "its format is version {found}, but this Nacre supports version {known}; use the Nacre that \
        wrote it"
    )]
    OtherVersion {
        /// Format version of the image.
        found: u32,
        /// Format version that this version of Nacre supports.
        known: u32,
    },
    /// The image belongs to another device.
    #[error("it holds another device: {}; use the image's settings, or another image", list(.differences))]
    OtherDevice {
        /// Settings that differ.
        differences: Vec<Difference>,
    },
    /// The file is truncated.
    #[error(
        "it is truncated: {found} bytes instead of {expected}; restore it from a copy, or run nacre image \
         check"
    )]
    CutShort {
        /// Length of the file, in bytes.
        found: u64,
        /// The length required by its superblock and extents, in bytes.
        expected: u64,
    },
    /// A checksum does not match, or a table is invalid.
    #[error(
        "it is damaged: {part} at byte {at}: expected {expected}, found {found}; restore it from a copy, \
         or run nacre image check"
    )]
    Damaged {
        /// Name of the damaged section.
        part: &'static str,
        /// Offset of the section in the file.
        at: u64,
        /// Expected content.
        expected: String,
        /// Content found.
        found: String,
    },
    /// A page differs from the data that was written.
    #[error(
        "it is damaged: page {page} of the medium, at byte {at}: expected checksum {expected:08x}, found \
         {found:08x}; nothing was written since; nacre image check lists all damage, and nacre image \
         repair recovers the rest"
    )]
    DamagedPage {
        /// Page number.
        page: u64,
        /// Offset of the page in the file.
        at: u64,
        /// Checksum when the page was written.
        expected: u32,
        /// Checksum of the current content.
        found: u32,
    },
    /// The image cannot be repaired, because the state of the device is damaged.
    #[error("it cannot be repaired because the state of its device is lost: {why}")]
    BeyondRepair {
        /// Reason why the state is unusable.
        why: String,
    },
    /// The identity of the device is too long for a superblock.
    #[error(
        "the device's settings take {found} bytes, but the limit of an image is {limit}; shorten the \
        names in them"
    )]
    IdentityTooLong {
        /// Size of the identity, in bytes.
        found: usize,
        /// Maximum size of an identity, in bytes.
        limit: usize,
    },
    /// The disk is full.
    #[error("the disk is full while {doing}; free space and continue: all acknowledged data is in the image")]
    DiskFull {
        /// Operation that failed.
        doing: &'static str,
    },
    /// The disk failed for a reason other than lack of space.
    #[error(
        "{doing} failed: {detail}; check the disk and open the image again: \
         everything acknowledged was handed to it, and nothing was written since"
    )]
    Io {
        /// Operation that failed.
        doing: &'static str,
        /// The kind of failure.
        kind: io::ErrorKind,
        /// Error number of the operating system, if any.
        errno: Option<i32>,
        /// Message of the operating system.
        detail: String,
    },
}

impl Problem {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Problem::Missing => ErrorCode::FileNotFound,
            Problem::Exists => ErrorCode::FileExists,
            Problem::Linked | Problem::NotAFile { .. } => ErrorCode::NotAFile,
            Problem::Replaced => ErrorCode::FileReplaced,
            Problem::ReadOnly => ErrorCode::PermissionDenied,
            Problem::Locked | Problem::OtherProcess { .. } => ErrorCode::InUse,
            Problem::NotAnImage { .. } => ErrorCode::UnknownFormat,
            Problem::OldServed | Problem::OtherVersion { .. } => ErrorCode::WrongVersion,
            Problem::HoldsDevice | Problem::HoldsRawBytes | Problem::OtherDevice { .. } => {
                ErrorCode::WrongDevice
            }
            Problem::OpenedToRead => ErrorCode::ReadOnly,
            Problem::Unfinished => ErrorCode::Unfinished,
            Problem::CutShort { .. }
            | Problem::Damaged { .. }
            | Problem::DamagedPage { .. }
            | Problem::BeyondRepair { .. } => ErrorCode::Damaged,
            Problem::IdentityTooLong { .. } => ErrorCode::OverLimit,
            Problem::DiskFull { .. } => ErrorCode::DiskFull,
            Problem::Io { .. } => ErrorCode::OsError,
        }
    }

    /// Returns the machine-readable data of the error.
    pub fn data(&self) -> ErrorData {
        match self {
            Problem::OtherProcess { by } => vec![("pid", u64::from(*by).into())],
            Problem::OtherVersion { found, known } => {
                vec![("found", u64::from(*found).into()), ("known", u64::from(*known).into())]
            }
            Problem::OtherDevice { differences } => {
                let paths: Vec<String> =
                    differences.iter().map(|difference| difference.path.clone()).collect();
                vec![("differences", paths.into())]
            }
            Problem::CutShort { found, .. } => vec![("at", (*found).into())],
            Problem::Damaged { at, .. } | Problem::DamagedPage { at, .. } => vec![("at", (*at).into())],
            Problem::Io { errno: Some(errno), .. } => vec![("errno", (*errno).into())],
            Problem::IdentityTooLong { limit, .. } => vec![("limit", (*limit as u64).into())],
            _ => ErrorData::new(),
        }
    }

    /// Converts an I/O error of the operation `doing`.
    pub(crate) fn io(doing: &'static str, error: &io::Error) -> Problem {
        match error.kind() {
            _ if is_full(error) => Problem::DiskFull { doing },
            kind => {
                let errno = error.raw_os_error();
                Problem::Io { doing, kind, errno, detail: error.to_string() }
            }
        }
    }
}

/// Returns whether a write failed because the disk is full.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Formats `differences` as one line of text. Each difference has its path, its value in the image, and the
/// expected value.
fn list(differences: &[Difference]) -> String {
    let line = |difference: &Difference| {
        let [saved, requested] = difference.shown();
        format!("`{}` is {saved} in the image, but {requested} was requested", difference.path)
    };
    differences.iter().map(line).collect::<Vec<_>>().join("; ")
}
