//! Data of requests and completions.

use crate::state::{State, StateError, StateReader, StateWriter, Value};
use bytes::Bytes;

/// Data of a write or a read; empty if only time is simulated. Clones and slices share the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload(Option<Bytes>);

impl Payload {
    /// Empty payload.
    pub const NONE: Payload = Payload(None);

    /// Whether there is no data.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// The data, if any.
    #[inline]
    pub fn bytes(&self) -> Option<&[u8]> {
        self.0.as_deref()
    }

    /// Returns the bytes from index `from` up to `to`. The slice of an empty payload is empty.
    ///
    /// # Panics
    /// Panics if the payload has data with fewer than `to` bytes.
    #[inline]
    pub fn slice(&self, from: usize, to: usize) -> Payload {
        Payload(self.0.as_ref().map(|bytes| bytes.slice(from..to)))
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        Payload(Some(bytes.into()))
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Payload {
        Payload(Some(bytes))
    }
}

impl State for Payload {
    fn save(&self, state: &mut StateWriter) {
        state.put_bool(self.0.is_some());
        if let Some(bytes) = &self.0 {
            state.put_bytes(bytes);
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Payload::read(state)?;
        Ok(())
    }
}

impl Value for Payload {
    const BYTES_MIN: usize = 1;

    fn read(state: &mut StateReader<'_>) -> Result<Payload, StateError> {
        Ok(match bool::read(state)? {
            true => Payload(Some(Bytes::copy_from_slice(state.bytes("payload")?))),
            false => Payload::NONE,
        })
    }
}
