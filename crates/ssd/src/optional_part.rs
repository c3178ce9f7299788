//! Optional components of a drive. An absent component adds nothing to the saved state.

use nacre_kernel::state::{State, StateError, StateReader, StateWriter};

/// A component that is present or absent according to the configuration.
pub(crate) struct OptionalPart<T>(pub(crate) Option<Box<T>>);

impl<T> Default for OptionalPart<T> {
    fn default() -> OptionalPart<T> {
        OptionalPart(None)
    }
}

impl<T: State> State for OptionalPart<T> {
    fn save(&self, state: &mut StateWriter) {
        if let Some(part) = &self.0 {
            part.save(state);
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        self.0.as_mut().map_or(Ok(()), |part| part.restore(state))
    }
}
