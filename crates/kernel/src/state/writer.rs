//! Writer of saved states.

use super::CannotSave;

/// Writes a state.
#[derive(Clone, Debug, Default)]
pub struct StateWriter {
    bytes: Vec<u8>,
    refused: Option<String>,
}

impl StateWriter {
    /// Creates a writer of an empty state.
    pub fn new() -> StateWriter {
        StateWriter::default()
    }

    /// Creates a writer whose output starts with `bytes`, a header of the caller.
    pub fn beginning(bytes: &[u8]) -> StateWriter {
        StateWriter { bytes: bytes.into(), refused: None }
    }

    /// Starts the section `name`.
    pub fn section(&mut self, name: &str) {
        self.put_bytes(name.as_bytes());
    }

    /// Writes one byte.
    pub fn put_u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes a boolean as one byte.
    pub fn put_bool(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    /// Writes four bytes.
    pub fn put_u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes eight bytes.
    pub fn put_u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes the exact eight bytes of a floating-point number.
    pub fn put_f64(&mut self, value: f64) {
        self.put_u64(value.to_bits());
    }

    /// Writes bytes, preceded by their length.
    pub fn put_bytes(&mut self, values: &[u8]) {
        self.put_u64(values.len() as u64);
        self.bytes.extend_from_slice(values);
    }

    /// Writes a list of 32-bit numbers, preceded by its length.
    pub fn put_u32s(&mut self, values: &[u32]) {
        self.put_u64(values.len() as u64);
        let places = self.places::<4>(values.len());
        places.iter_mut().zip(values).for_each(|(place, value)| *place = value.to_le_bytes());
    }

    /// Writes a list of 64-bit numbers, preceded by its length.
    pub fn put_u64s(&mut self, values: &[u64]) {
        self.put_u64(values.len() as u64);
        let places = self.places::<8>(values.len());
        places.iter_mut().zip(values).for_each(|(place, value)| *place = value.to_le_bytes());
    }

    /// Records that a part of the state cannot be saved, with the reason. Only the first reason is reported.
    pub fn refuse(&mut self, reason: impl Into<String>) {
        self.refused.get_or_insert_with(|| reason.into());
    }

    /// Returns the state as bytes. Panics if a part of the state cannot be saved.
    pub fn finish(self) -> Vec<u8> {
        self.finished().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the state as bytes, or an error if a part of it cannot be saved.
    pub fn finished(self) -> Result<Vec<u8>, CannotSave> {
        match self.refused {
            None => Ok(self.bytes),
            Some(reason) => Err(CannotSave { reason }),
        }
    }

    /// Writes bytes without a length.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Reserves space for `count` values of `WIDTH` bytes. Filling this space compiles to a copy, unlike
    /// single pushes.
    pub(super) fn places<const WIDTH: usize>(&mut self, count: usize) -> &mut [[u8; WIDTH]] {
        let start = self.bytes.len();
        self.bytes.resize(start + count * WIDTH, 0);
        self.bytes[start..].as_chunks_mut().0
    }
}
