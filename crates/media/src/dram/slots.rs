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
    /// Clocks between two commands of a train, and a bit for each of those that begin with a word.
    #[state(skip = "from the configuration")]
    spacing: u64,
    #[state(skip = "from the configuration")]
    train: u64,
}

impl Slots {
    /// A free bus whose trains have a command every `spacing` clocks.
    pub(super) fn new(spacing: u64) -> Slots {
        let train = (0..64).step_by(spacing as usize).fold(0, |train, clock| train | 1 << clock);
        Slots { taken: vec![0; WORDS], end: CLOCKS, spacing, train }
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

    /// Commands are given at `clock`, which [`Slots::first_free`] named, and every so many clocks after it, as many
    /// of `count` as find their clock free. Gives how many.
    #[inline]
    pub(super) fn take_train(&mut self, clock: u64, count: u64) -> u64 {
        self.reach(clock + self.spacing * (count - 1));
        let (mut at, mut given) = (clock, 0);
        while given < count {
            let word = &mut self.taken[word_of(at)];
            let mut wanted = self.train << (at % 64);
            let mut these = u64::from(wanted.count_ones());
            if these > count - given {
                these = count - given;
                let last = at % 64 + (these - 1) * self.spacing;
                wanted &= u64::MAX >> (63 - last);
            }
            let taken = *word & wanted;
            if taken != 0 {
                wanted &= (1 << taken.trailing_zeros()) - 1;
                *word |= wanted;
                return given + u64::from(wanted.count_ones());
            }
            *word |= wanted;
            given += these;
            at += these * self.spacing;
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
