//! The command bus: one command a clock, in clocks not long before the newest one.

use nacre_kernel::state::State;

/// Clocks that are kept: what comes earlier than so many before the newest command is given as late as that.
pub(super) const CLOCKS: u64 = 1 << 16;
const WORDS: usize = (CLOCKS / 64) as usize;

/// Which clocks have a command.
#[derive(Clone, Debug, State)]
#[state(after = "Slots::check")]
pub(super) struct Slots {
    /// A bit for each clock of the last [`CLOCKS`].
    taken: Vec<u64>,
    /// The clock after the last whose bit means anything, a multiple of 64.
    end: u64,
}

impl Slots {
    pub(super) fn new() -> Slots {
        Slots { taken: vec![0; WORDS], end: CLOCKS }
    }

    /// The first clock from `from` on without a command.
    #[inline]
    pub(super) fn first_free(&self, from: u64) -> u64 {
        let mut clock = from.max(self.end - CLOCKS);
        while clock < self.end {
            let word = !self.taken[word_of(clock)] >> (clock % 64);
            if word != 0 {
                return clock + u64::from(word.trailing_zeros());
            }
            clock = (clock / 64 + 1) * 64;
        }
        clock
    }

    /// A command is given at `clock`, which [`Slots::first_free`] named.
    #[inline]
    pub(super) fn take(&mut self, clock: u64) {
        self.reach(clock);
        self.taken[word_of(clock)] |= 1 << (clock % 64);
    }

    /// Commands are given at `clock`, which [`Slots::first_free`] named, and every `spacing` clocks after it, as many
    /// of `count` as find their clock free. Gives how many.
    #[inline]
    pub(super) fn take_train(&mut self, clock: u64, spacing: u64, count: u64) -> u64 {
        self.reach(clock + spacing * (count - 1));
        let mut at = clock;
        for given in 0..count {
            let (word, bit) = (&mut self.taken[word_of(at)], 1 << (at % 64));
            if *word & bit != 0 {
                return given;
            }
            *word |= bit;
            at += spacing;
        }
        count
    }

    fn check(&mut self) -> Result<(), String> {
        let is_legal = self.end >= CLOCKS && self.end.is_multiple_of(64);
        if is_legal { Ok(()) } else { Err(format!("a command bus kept up to clock {}", self.end)) }
    }

    /// Clocks up to `clock` are kept.
    #[inline]
    fn reach(&mut self, clock: u64) {
        if clock < self.end {
            return;
        }
        let end = (clock / 64 + 1) * 64;
        if end - self.end >= CLOCKS {
            self.taken.fill(0);
        } else {
            (self.end..end).step_by(64).for_each(|clock| self.taken[word_of(clock)] = 0);
        }
        self.end = end;
    }
}

#[inline]
fn word_of(clock: u64) -> usize {
    (clock / 64) as usize % WORDS
}
