//! A device's state as bytes: what it writes when it is put to rest and reads when it goes on.
//!
//! Values follow each other without padding, little-endian. Lists and texts begin with their length (u64).
//! A section is its name, written as a text: a reader that has lost its place finds another name there and
//! says so. There is no version here; who keeps the bytes keeps one beside them.
//!
//! ```
//! use nacre_kernel::state::{StateReader, StateWriter};
//!
//! let mut writer = StateWriter::new();
//! writer.section("mapping");
//! writer.put_u32s(&[3, 1, 2]);
//! let bytes = writer.finish();
//!
//! let mut reader = StateReader::new(&bytes);
//! reader.section("mapping")?;
//! let mut table = [0; 3];
//! reader.u32s_into("page of each block", &mut table)?;
//! reader.finish()?;
//! assert_eq!(table, [3, 1, 2]);
//! # Ok::<(), nacre_kernel::state::StateError>(())
//! ```

/// Writes a state.
#[derive(Clone, Debug, Default)]
pub struct StateWriter {
    bytes: Vec<u8>,
}

impl StateWriter {
    /// An empty state.
    pub fn new() -> StateWriter {
        StateWriter::default()
    }

    /// Begins the section `name`.
    pub fn section(&mut self, name: &str) {
        self.put_bytes(name.as_bytes());
    }

    /// One byte.
    pub fn put_u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Yes or no, as one byte.
    pub fn put_bool(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }

    /// Four bytes.
    pub fn put_u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Eight bytes.
    pub fn put_u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// The eight bytes of a float, exactly.
    pub fn put_f64(&mut self, value: f64) {
        self.put_u64(value.to_bits());
    }

    /// Bytes with their length before them.
    pub fn put_bytes(&mut self, values: &[u8]) {
        self.put_u64(values.len() as u64);
        self.bytes.extend_from_slice(values);
    }

    /// A list with its length before it.
    pub fn put_u32s(&mut self, values: &[u32]) {
        self.put_u64(values.len() as u64);
        // Into a region of known size, which compiles to a copy; one push after the other would not.
        let start = self.bytes.len();
        self.bytes.resize(start + size_of_val(values), 0);
        let (places, _) = self.bytes[start..].as_chunks_mut::<4>();
        places.iter_mut().zip(values).for_each(|(place, value)| *place = value.to_le_bytes());
    }

    /// A list with its length before it.
    pub fn put_u64s(&mut self, values: &[u64]) {
        self.put_u64(values.len() as u64);
        let start = self.bytes.len();
        self.bytes.resize(start + size_of_val(values), 0);
        let (places, _) = self.bytes[start..].as_chunks_mut::<8>();
        places.iter_mut().zip(values).for_each(|(place, value)| *place = value.to_le_bytes());
    }

    /// The state as bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// The bytes are not the state that the reader expects: written by another version, for another
/// configuration, or damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the state, section \"{section}\": expected {expected}, found {found}")]
pub struct StateError {
    /// Offset in the state, bytes.
    pub at: usize,
    /// The section being read.
    pub section: String,
    /// What the reader looked for.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// Reads a state in the order in which it was written. Each value is named for messages.
#[derive(Clone, Debug)]
pub struct StateReader<'a> {
    bytes: &'a [u8],
    at: usize,
    section: String,
}

impl<'a> StateReader<'a> {
    /// Reads `bytes` from their beginning.
    pub fn new(bytes: &'a [u8]) -> StateReader<'a> {
        StateReader { bytes, at: 0, section: "start".into() }
    }

    /// Enters the section `name`. Errors: another one begins here, or none.
    pub fn section(&mut self, name: &str) -> Result<(), StateError> {
        let start = self.at;
        let found = self.bytes("the name of a section")?;
        if found != name.as_bytes() {
            // What is no name after all may be long.
            let found = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
            self.at = start;
            return Err(self.error(format!("section \"{name}\""), format!("\"{found}\"")));
        }
        self.section = name.into();
        Ok(())
    }

    /// One byte. Errors: the state ends.
    pub fn u8(&mut self, what: &str) -> Result<u8, StateError> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Yes or no. Errors: the state ends, or the byte is neither 0 nor 1.
    pub fn bool(&mut self, what: &str) -> Result<bool, StateError> {
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => {
                self.at -= 1;
                Err(self.error(format!("0 or 1 as {what}"), other.to_string()))
            }
        }
    }

    /// Four bytes. Errors: the state ends.
    pub fn u32(&mut self, what: &str) -> Result<u32, StateError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// Eight bytes. Errors: the state ends.
    pub fn u64(&mut self, what: &str) -> Result<u64, StateError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A float. Errors: the state ends.
    pub fn f64(&mut self, what: &str) -> Result<f64, StateError> {
        Ok(f64::from_bits(self.u64(what)?))
    }

    /// Bytes of any length. Errors: the state ends before they do.
    pub fn bytes(&mut self, what: &str) -> Result<&'a [u8], StateError> {
        self.list(what, 1)
    }

    /// A list of any length. Errors: the state ends before it does.
    pub fn u32s(&mut self, what: &str) -> Result<Vec<u32>, StateError> {
        let (chunks, _) = self.list(what, 4)?.as_chunks::<4>();
        Ok(chunks.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect())
    }

    /// A list of any length. Errors: the state ends before it does.
    pub fn u64s(&mut self, what: &str) -> Result<Vec<u64>, StateError> {
        let (chunks, _) = self.list(what, 8)?.as_chunks::<8>();
        Ok(chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)).collect())
    }

    /// A list as long as `into`. Errors: it has another length, or the state ends before it does.
    pub fn u32s_into(&mut self, what: &str, into: &mut [u32]) -> Result<(), StateError> {
        let (chunks, _) = self.list_of(what, 4, into.len())?.as_chunks::<4>();
        into.iter_mut().zip(chunks).for_each(|(place, &chunk)| *place = u32::from_le_bytes(chunk));
        Ok(())
    }

    /// A list as long as `into`. Errors: it has another length, or the state ends before it does.
    pub fn u64s_into(&mut self, what: &str, into: &mut [u64]) -> Result<(), StateError> {
        let (chunks, _) = self.list_of(what, 8, into.len())?.as_chunks::<8>();
        into.iter_mut().zip(chunks).for_each(|(place, &chunk)| *place = u64::from_le_bytes(chunk));
        Ok(())
    }

    /// Bytes as long as `into`. Errors: there are more or fewer, or the state ends before they do.
    pub fn bytes_into(&mut self, what: &str, into: &mut [u8]) -> Result<(), StateError> {
        into.copy_from_slice(self.list_of(what, 1, into.len())?);
        Ok(())
    }

    /// The state ends here. Errors: it goes on.
    pub fn finish(self) -> Result<(), StateError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            more => Err(self.error("the end of the state".into(), format!("{more} more bytes"))),
        }
    }

    /// What the device finds wrong with the value it has just read, for its own checks of plausibility.
    pub fn error(&self, expected: String, found: String) -> StateError {
        StateError { at: self.at, section: self.section.clone(), expected, found }
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], StateError> {
        Ok(*self.take(N, what)?.first_chunk().expect("as many bytes as asked for"))
    }

    fn list(&mut self, what: &str, width: usize) -> Result<&'a [u8], StateError> {
        let start = self.at;
        let count = self.u64(what)?;
        // A damaged length must not become an allocation: it is compared with what is there.
        match count.checked_mul(width as u64).filter(|&size| size <= (self.bytes.len() - self.at) as u64) {
            Some(size) => self.take(size as usize, what),
            None => {
                let left = self.bytes.len() - self.at;
                self.at = start;
                Err(self.error(format!("{count} x {width} bytes of {what}"), format!("{left} bytes")))
            }
        }
    }

    fn list_of(&mut self, what: &str, width: usize, count: usize) -> Result<&'a [u8], StateError> {
        let start = self.at;
        let list = self.list(what, width)?;
        if list.len() != count * width {
            self.at = start;
            return Err(self.error(format!("{count} of {what}"), (list.len() / width).to_string()));
        }
        Ok(list)
    }

    fn take(&mut self, size: usize, what: &str) -> Result<&'a [u8], StateError> {
        let rest = &self.bytes[self.at..];
        if rest.len() < size {
            return Err(self.error(format!("{size} bytes of {what}"), format!("{} bytes", rest.len())));
        }
        self.at += size;
        Ok(&rest[..size])
    }
}
