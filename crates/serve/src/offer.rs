//! Devices to serve, and errors that prevent serving.

use crate::listen::AddressError;
use crate::recorder::RecordError;
use crate::tls::CertificateError;
use nacre_image::ImageError;
use nacre_kernel::{ErrorCode, ErrorData};
use nacre_machine::{Checked, Files};
use nacre_memory::MemoryError;
use std::path::PathBuf;

/// A device to serve.
pub struct Offer {
    /// Export name.
    pub name: String,
    /// Description for people.
    pub description: String,
    /// Scenario with the stack of the device.
    pub checked: Checked,
    /// Files that the scenario names.
    pub files: Box<dyn Files + Send>,
    /// Image file with the data and state of the device.
    pub image: PathBuf,
    /// Saved run state from which a new image starts, if any.
    pub from: Option<Vec<u8>>,
    /// Whether the device rejects writes.
    pub read_only: bool,
}

/// Reason why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The image cannot be opened or created.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The server cannot listen on the address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The server cannot listen on the control socket.
    #[error("{0}")]
    Control(AddressError),
    /// The server cannot listen on the metrics address.
    #[error("{0}")]
    Metrics(AddressError),
    /// The recording of requests cannot start.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A certificate file cannot be used.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// Two devices have the same name.
    #[error("two devices are named {0:?}; use different names, e.g. --export NAME=SCENARIO:IMAGE")]
    SameName(String),
    /// The device cannot be opened with its image.
    #[error(transparent)]
    Device(#[from] MemoryError),
    /// The image does not contain raw bytes that a server wrote.
    #[error("{}: {detail}; restore the image from a copy", .path.display())]
    Unfit {
        /// Path of the image.
        path: PathBuf,
        /// Description of the mismatch.
        detail: String,
    },
    /// An initial state was given, but no device is modeled.
    #[error("--timing none has no modeled device, so it cannot start from a state; remove one of them")]
    NothingModeled,
}

impl ServeError {
    /// Returns the error code.
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

    /// Returns the machine-readable data of the error.
    pub fn data(&self) -> ErrorData {
        match self {
            ServeError::Image(error) => error.problem.data(),
            ServeError::Device(error) => error.data(),
            _ => ErrorData::new(),
        }
    }
}
