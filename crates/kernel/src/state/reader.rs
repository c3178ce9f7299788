//! Reader of saved states.

/// Error for bytes that are not the expected state. The bytes are damaged, or from another version or
/// configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the state, section \"{section}\": expected {expected}, found {found}")]
pub struct StateError {
    /// Offset in the state, in bytes.
    pub at: usize,
    /// Section that was being read.
    pub section: String,
    /// Expected content.
    pub expected: String,
    /// Actual content.
    pub found: String,
}

/// Reads a state in the order in which it was written. Each value has a name for messages.
#[derive(Clone, Debug)]
pub struct StateReader<'a> {
    bytes: &'a [u8],
    at: usize,
    section: String,
    /// Name of the value that is read next, for messages.
    field: &'static str,
}

impl<'a> StateReader<'a> {
    /// Creates a reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> StateReader<'a> {
        StateReader { bytes, at: 0, section: "start".into(), field: "a value" }
    }

    /// Enters the section `name`. Returns an error if another section or no section starts here.
    pub fn section(&mut self, name: &str) -> Result<(), StateError> {
        let start = self.at;
        let found = self.bytes("the name of a section")?;
        if found != name.as_bytes() {
            // A length that does not belong to a name may be large.
            let found = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
            self.at = start;
            return Err(self.error(format!("section \"{name}\""), format!("\"{found}\"")));
        }
        self.section = name.into();
        Ok(())
    }

    /// Sets the name that messages use for the following values.
    pub fn field(&mut self, name: &'static str) {
        self.field = name;
    }

    /// Name of the value that is being read.
    pub fn name(&self) -> &'static str {
        self.field
    }

    /// Reads the length of a list whose elements take at least `width` bytes each. Returns an error if fewer
    /// bytes are left.
    pub(super) fn count(&mut self, width: usize) -> Result<usize, StateError> {
        let start = self.at;
        let count = self.u64(self.field)?;
        let left = self.bytes.len() - self.at;
        if count.checked_mul(width as u64).is_none_or(|size| size > left as u64) {
            self.at = start;
            return Err(
                self.error(format!("{count} x {width} bytes of {}", self.field), format!("{left} bytes"))
            );
        }
        Ok(count as usize)
    }

    /// Reads the length of a list in which every run of up to `elements` elements takes at least one byte.
    /// Returns an error if fewer bytes are left.
    pub(super) fn count_of_runs(&mut self, elements: usize) -> Result<usize, StateError> {
        let start = self.at;
        let count = self.u64(self.field)?;
        let (runs, left) = (count.div_ceil(elements as u64), self.bytes.len() - self.at);
        if runs > left as u64 {
            self.at = start;
            return Err(self.error(format!("{runs} runs of {}", self.field), format!("{left} bytes")));
        }
        Ok(count as usize)
    }

    /// Reads the length of a list. Returns an error unless the length is `count`.
    pub(super) fn count_of(&mut self, count: usize) -> Result<(), StateError> {
        let start = self.at;
        let found = self.u64(self.field)?;
        if found != count as u64 {
            self.at = start;
            return Err(self.error(format!("{count} of {}", self.field), found.to_string()));
        }
        Ok(())
    }

    /// Reads `count` values of `WIDTH` bytes.
    pub(super) fn places<const WIDTH: usize>(
        &mut self,
        count: usize,
    ) -> Result<&'a [[u8; WIDTH]], StateError> {
        match count.checked_mul(WIDTH) {
            Some(size) => Ok(self.take(size, self.field)?.as_chunks().0),
            None => Err(self.error(format!("{count} of {}", self.field), "fewer".into())),
        }
    }

    /// Creates the error for an unexpected value in the `width` bytes that were read last.
    pub(super) fn error_before(&mut self, width: usize, expected: String, found: String) -> StateError {
        self.at -= width;
        self.error(expected, found)
    }

    /// Reads a value that must equal `value`. Returns an error if it differs.
    pub fn same<T: super::Value + PartialEq + std::fmt::Debug>(
        &mut self,
        value: &T,
    ) -> Result<(), StateError> {
        let start = self.at;
        let found = T::read(self)?;
        if found != *value {
            self.at = start;
            return Err(self.error(format!("{value:?} as {}", self.field), format!("{found:?}")));
        }
        Ok(())
    }

    /// Reads one byte. Returns an error if the state ends.
    pub fn u8(&mut self, what: &str) -> Result<u8, StateError> {
        Ok(self.array::<1>(what)?[0])
    }

    /// Reads a boolean. Returns an error if the state ends, or the byte is neither 0 nor 1.
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

    /// Reads four bytes. Returns an error if the state ends.
    pub fn u32(&mut self, what: &str) -> Result<u32, StateError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// Reads eight bytes. Returns an error if the state ends.
    pub fn u64(&mut self, what: &str) -> Result<u64, StateError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// Reads a floating-point number. Returns an error if the state ends.
    pub fn f64(&mut self, what: &str) -> Result<f64, StateError> {
        Ok(f64::from_bits(self.u64(what)?))
    }

    /// Reads bytes of any length. Returns an error if the state ends too early.
    pub fn bytes(&mut self, what: &str) -> Result<&'a [u8], StateError> {
        self.list(what, 1)
    }

    /// Reads a list of 32-bit numbers of any length. Returns an error if the state ends too early.
    pub fn u32s(&mut self, what: &str) -> Result<Vec<u32>, StateError> {
        let (chunks, _) = self.list(what, 4)?.as_chunks::<4>();
        Ok(chunks.iter().map(|&chunk| u32::from_le_bytes(chunk)).collect())
    }

    /// Reads a list of 64-bit numbers of any length. Returns an error if the state ends too early.
    pub fn u64s(&mut self, what: &str) -> Result<Vec<u64>, StateError> {
        let (chunks, _) = self.list(what, 8)?.as_chunks::<8>();
        Ok(chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)).collect())
    }

    /// Reads a list of 32-bit numbers with the length of `into`. Returns an error if the length differs or
    /// the state ends too early.
    pub fn u32s_into(&mut self, what: &str, into: &mut [u32]) -> Result<(), StateError> {
        let (chunks, _) = self.list_of(what, 4, into.len())?.as_chunks::<4>();
        into.iter_mut().zip(chunks).for_each(|(place, &chunk)| *place = u32::from_le_bytes(chunk));
        Ok(())
    }

    /// Reads a list of 64-bit numbers with the length of `into`. Returns an error if the length differs or
    /// the state ends too early.
    pub fn u64s_into(&mut self, what: &str, into: &mut [u64]) -> Result<(), StateError> {
        let (chunks, _) = self.list_of(what, 8, into.len())?.as_chunks::<8>();
        into.iter_mut().zip(chunks).for_each(|(place, &chunk)| *place = u64::from_le_bytes(chunk));
        Ok(())
    }

    /// Reads bytes with the length of `into`. Returns an error if the length differs or the state ends too
    /// early.
    pub fn bytes_into(&mut self, what: &str, into: &mut [u8]) -> Result<(), StateError> {
        into.copy_from_slice(self.list_of(what, 1, into.len())?);
        Ok(())
    }

    /// Returns the remaining bytes.
    pub fn rest(self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Returns an error if bytes are left.
    pub fn finish(self) -> Result<(), StateError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            more => Err(self.error("the end of the state".into(), format!("{more} more bytes"))),
        }
    }

    /// Creates an error at the current offset, e.g. for a value that is not plausible for a device.
    pub fn error(&self, expected: String, found: String) -> StateError {
        StateError { at: self.at, section: self.section.clone(), expected, found }
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], StateError> {
        Ok(*self.take(N, what)?.first_chunk().expect("as many bytes as asked for"))
    }

    fn list(&mut self, what: &str, width: usize) -> Result<&'a [u8], StateError> {
        let start = self.at;
        let count = self.u64(what)?;
        // The length is compared with the number of remaining bytes, so that a damaged length does not
        // allocate memory.
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
