//! State as bytes: what a component writes when it is put to rest and reads when it continues.
//!
//! Every component is [`State`]. It restores into one that was built from the same configuration: what follows
//! from the configuration is not written. A derive writes the code:
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
//! A component is restored in place: a `Vec` is as long as it was built, and an `Option` is there if it was built.
//! A [`Value`] lies in the bytes as a whole; where it is marked `varies`, it may be longer, shorter or not there.
//! A large table that is marked `sparse` takes as much of the bytes as was ever written to it.
//!
//! Values follow each other without padding, little-endian. Lists and texts begin with their length (u64).
//! A section is its name, written as a text: a reader that has lost its place finds another name there and
//! says so. There is neither version nor checksum here; the code that stores the bytes stores those, too.

mod collections;
mod reader;
mod values;
mod writer;

pub use collections::{restore_sparse, restore_sparse_of_any_length, restore_values, save_sparse};
pub use nacre_state_derive::{State, Value};
pub use reader::{StateError, StateReader};
pub use writer::StateWriter;

/// The current state of a component, without its configuration.
pub trait State {
    /// Adds all of it. What cannot be written says so with [`StateWriter::refuse`].
    fn save(&self, state: &mut StateWriter);

    /// Takes on what [`State::save`] wrote of a component of the same configuration. After an error the
    /// component is of no use.
    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError>;

    /// Adds all of `each`, one after the other. Numbers do it as one block.
    #[doc(hidden)]
    fn save_each(each: &[Self], state: &mut StateWriter)
    where
        Self: Sized,
    {
        each.iter().for_each(|one| one.save(state));
    }

    /// Takes on what [`State::save_each`] wrote of as many.
    #[doc(hidden)]
    fn restore_each(each: &mut [Self], state: &mut StateReader<'_>) -> Result<(), StateError>
    where
        Self: Sized,
    {
        each.iter_mut().try_for_each(|one| one.restore(state))
    }
}

/// State that needs no configuration to be restored.
pub trait Value: State + Sized {
    /// The fewest bytes that one takes; at least one.
    const BYTES_MIN: usize;

    /// What [`State::save`] wrote.
    fn read(state: &mut StateReader<'_>) -> Result<Self, StateError>;

    /// What [`State::save_each`] wrote of `count`. Numbers do it as one block.
    #[doc(hidden)]
    fn read_list(count: usize, state: &mut StateReader<'_>) -> Result<Vec<Self>, StateError> {
        collections::read_list(count, state)
    }
}

/// The state of `what` as bytes. Errors: a part of it cannot be saved.
pub fn saved<T: State + ?Sized>(what: &T) -> Result<Vec<u8>, CannotSave> {
    let mut state = StateWriter::new();
    what.save(&mut state);
    state.finished()
}

/// Puts `what` into the state of `bytes`, all of them. After an error it is of no use.
pub fn restored<T: State + ?Sized>(what: &mut T, bytes: &[u8]) -> Result<(), StateError> {
    let mut state = StateReader::new(bytes);
    what.restore(&mut state)?;
    state.finish()
}

/// A state that is not in the process, so that it cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state cannot be saved: {reason}")]
pub struct CannotSave {
    /// The component and the reason.
    pub reason: String,
}
