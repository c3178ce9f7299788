//! Devices to serve, and errors that prevent it.

use crate::listen::AddressError;
use crate::recorder::RecordError;
use crate::tls::CertificateError;
use nacre_image::ImageError;
use nacre_kernel::{ErrorCode, ErrorData};
use nacre_machine::{Checked, Files};
use nacre_memory::MemoryError;
use std::path::PathBuf;

/// A device to be served.
pub struct Offer {
    /// Export name.
    pub name: String,
    /// Description for people.
    pub description: String,
    /// The scenario with the stack.
    pub checked: Checked,
    /// The files that it names.
    pub files: Box<dyn Files + Send>,
    /// Image file with its data and state.
    pub image: PathBuf,
    /// Saved state of a run for a new image.
    pub from: Option<Vec<u8>>,
    /// Whether it rejects writes.
    pub read_only: bool,
}

/// Reason why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Error of the image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Error of the address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Error of the control socket.
    #[error("{0}")]
    Control(AddressError),
    /// Error of the metrics.
    #[error("{0}")]
    Metrics(AddressError),
    /// Error of the trace to be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Error of the certificates.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// Two devices with one name.
    #[error("two devices are named {0:?}; use different names, e.g. --export NAME=SCENARIO:IMAGE")]
    SameName(String),
    /// Error of the device and its image.
    #[error(transparent)]
    Device(#[from] MemoryError),
    /// The content of an image of raw bytes is not from a server.
    #[error("{}: {detail}; restore the image from a copy", .path.display())]
    Unfit {
        /// The image.
        path: PathBuf,
        /// The mismatch.
        detail: String,
    },
    /// Without a modeled device there is no state.
    #[error("--timing none has no modeled device, so it cannot start from a state; remove one of them")]
    NothingModeled,
}

impl ServeError {
    /// Error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            ServeError::Image(error) => error.problem.code(),
            ServeError::Address(error) | ServeError::Control(error) | ServeError::Metrics(error) => {
                error.code()
            }
            ServeError::Record(error) => error.code(),
            ServeError::Certificates(_) => ErrorCode::InvalidCertificate,
            ServeError::SameName(_) => ErrorCode::DuplicateName,
            ServeError::Device(error) => error.code(),
            ServeError::Unfit { .. } => ErrorCode::Damaged,
            ServeError::NothingModeled => ErrorCode::ConflictingSettings,
        }
    }

    /// Data for programs.
    pub fn data(&self) -> ErrorData {
        match self {
            ServeError::Image(error) => error.problem.data(),
            ServeError::Device(error) => error.data(),
            _ => ErrorData::new(),
        }
    }
}
