//! Saves the state of components as bytes, and restores it.
//!
//! Every component implements [`State`]. Its state is restored into a component that was built from the same
//! configuration, so data that can be derived from the configuration is not saved. A derive macro generates
//! the code:
//!
//! ```
//! use nacre_kernel::Time;
//! use nacre_kernel::state::{self, State};
//!
//! #[derive(State)]
//! struct Counter {
//!     #[state(skip = "from the configuration")]
//!     width: Time,
//!     counts: Vec<u32>,
//!     #[state(varies)]
//!     marks: Vec<u32>,
//! }
//!
//! let counter = Counter { width: Time::from_us(1), counts: vec![3, 1, 2], marks: vec![9] };
//! let bytes = state::saved(&counter)?;
//!
//! let mut other = Counter { width: Time::from_us(1), counts: vec![0; 3], marks: Vec::new() };
//! state::restored(&mut other, &bytes)?;
//! assert_eq!((other.counts, other.marks), (vec![3, 1, 2], vec![9]));
//!
//! let mut wider = Counter { width: Time::from_us(1), counts: vec![0; 4], marks: Vec::new() };
//! let error = state::restored(&mut wider, &bytes).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "byte 15 of the state, section \"counter\": expected 4 of counts, found 3"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A component is restored in place: the length of a `Vec` and the presence of an `Option` do not change. A
//! [`Value`] is replaced completely. A field marked `varies` may change its length or presence. A large table
//! marked `sparse` takes space only for the parts that were written.
//!
//! Values are little-endian without padding. Lists and texts start with their length (u64). A section starts
//! with its name, so that a reader at an incorrect position finds another name and reports it. The format has
//! no version and no checksum. The code that stores the bytes adds both.

mod collections;
mod reader;
mod values;
mod writer;

pub use collections::{restore_sparse, restore_sparse_of_any_length, restore_values, save_sparse};
pub use nacre_state_derive::{State, Value};
pub use reader::{StateError, StateReader};
pub use writer::StateWriter;

/// The current state of a component, excluding its configuration.
pub trait State {
    /// Writes the whole state. A component that cannot be saved calls [`StateWriter::refuse`].
    fn save(&self, state: &mut StateWriter);

    /// Restores the state that [`State::save`] wrote for a component with the same configuration. After an
    /// error, the component must not be used.
    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError>;

    /// Writes the states of all elements of `each`. Numbers are written as one block.
    #[doc(hidden)]
    fn save_each(each: &[Self], state: &mut StateWriter)
    where
        Self: Sized,
    {
        each.iter().for_each(|one| one.save(state));
    }

    /// Restores the states that [`State::save_each`] wrote for the same number of components.
    #[doc(hidden)]
    fn restore_each(each: &mut [Self], state: &mut StateReader<'_>) -> Result<(), StateError>
    where
        Self: Sized,
    {
        each.iter_mut().try_for_each(|one| one.restore(state))
    }
}

/// State that can be restored without a configuration.
pub trait Value: State + Sized {
    /// Minimum size of a saved value in bytes, at least one.
    const BYTES_MIN: usize;

    /// Reads a value that [`State::save`] wrote.
    fn read(state: &mut StateReader<'_>) -> Result<Self, StateError>;

    /// Reads `count` values that [`State::save_each`] wrote. Numbers are read as one block.
    #[doc(hidden)]
    fn read_list(count: usize, state: &mut StateReader<'_>) -> Result<Vec<Self>, StateError> {
        collections::read_list(count, state)
    }
}

/// Returns the state of `what` as bytes, or an error if a part of it cannot be saved.
pub fn saved<T: State + ?Sized>(what: &T) -> Result<Vec<u8>, CannotSave> {
    let mut state = StateWriter::new();
    what.save(&mut state);
    state.finished()
}

/// Restores `what` from `bytes`. All bytes must be used. After an error, `what` must not be used.
pub fn restored<T: State + ?Sized>(what: &mut T, bytes: &[u8]) -> Result<(), StateError> {
    let mut state = StateReader::new(bytes);
    what.restore(&mut state)?;
    state.finish()
}

/// Error for a component whose state cannot be saved because a part of it is outside the process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state cannot be saved: {reason}")]
pub struct CannotSave {
    /// Component that cannot be saved, and the reason.
    pub reason: String,
}
