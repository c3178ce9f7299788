//! Checks that state is saved and restored correctly.

use nacre_kernel::Random;
use nacre_kernel::state::{self, State};

/// Number of truncated states to test, and number of states with one damaged byte to test.
const DAMAGES: u64 = 12;

/// Restores the state of `saved` into `other`, which was built with the same configuration. Panics if this
/// fails or if the states then differ.
pub fn restores<T: State + ?Sized>(saved: &T, other: &mut T) {
    let bytes = state::saved(saved).expect("it can be saved");
    state::restored(other, &bytes).unwrap_or_else(|error| panic!("its own state is refused: {error}"));
    assert!(state::saved(other).as_ref() == Ok(&bytes), "what was restored is not what was saved");
}

/// Panics unless a truncated state is rejected. Also restores states with a damaged byte, which must not
/// cause a panic.
pub fn what_is_damaged_is_refused<T: State + ?Sized>(
    bytes: &[u8],
    random: &mut Random,
    build: &mut dyn FnMut() -> Box<T>,
) {
    for _ in 0..DAMAGES.min(bytes.len() as u64) {
        let length = random.below(bytes.len() as u64) as usize;
        let cut = state::restored(&mut *build(), &bytes[..length]);
        assert!(cut.is_err(), "{length} of {} bytes were taken for a state", bytes.len());
        // Without a checksum, a damaged number may be another valid number.
        let mut damaged = bytes.to_vec();
        damaged[length] ^= 1 << random.below(8);
        let _ = state::restored(&mut *build(), &damaged);
    }
}
