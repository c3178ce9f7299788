//! What is to be served, and why it cannot be.

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
    /// The scenario, of which the stack is served.
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
    /// Of the image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Of the address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Of the control socket.
    #[error("{0}")]
    Control(AddressError),
    /// Of the metrics.
    #[error("{0}")]
    Metrics(AddressError),
    /// Of the trace to be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Of the certificates.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// Two devices of one name.
    #[error("two devices are named {0:?}; give each its own name, e.g. --export NAME=SCENARIO:IMAGE")]
    SameName(String),
    /// Of the device and its image.
    #[error(transparent)]
    Device(#[from] MemoryError),
    /// What is in an image of raw bytes is none of a server's.
    #[error("{}: {detail}; restore the image from a copy", .path.display())]
    Unfit {
        /// The image.
        path: PathBuf,
        /// What does not fit.
        detail: String,
    },
    /// There is no device that a state could be of.
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
