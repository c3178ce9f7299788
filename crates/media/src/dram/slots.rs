//! The command bus, which transfers at most one command per clock. Only the state of recent clocks is stored.

use nacre_kernel::state::State;
use std::hint::select_unpredictable;

/// Number of stored clocks. Commands are not inserted at earlier clocks.
pub(super) const CLOCKS: u64 = 1 << 16;
const WORDS: usize = (CLOCKS / 64) as usize;

/// Clocks that are occupied by a command.
#[derive(Clone, Debug, State)]
#[state(after = "Slots::check")]
pub(super) struct Slots {
    /// One bit per clock, for the last [`CLOCKS`] clocks.
    taken: Vec<u64>,
    /// The clock after the last valid bit. It is a multiple of 64.
    end: u64,
    /// Spacing of the commands of a train, i.e. a series of commands at equal intervals, for trains to one
    /// row, to two alternating rows, and so on.
    #[state(skip = "from the configuration")]
    spacings: Vec<Spacing>,
}

/// Number of clocks between two commands of a train, and a bit mask of the commands of a train that starts at
/// the first bit of a word.
#[derive(Clone, Copy, Debug)]
struct Spacing {
    clocks: u64,
    train: u64,
}

impl Slots {
    /// Creates a bus without commands. `spacings` has the number of clocks between two commands of a train to
    /// one row, to two alternating rows, and so on.
    pub(super) fn new(spacings: impl Iterator<Item = u64>) -> Slots {
        let spacings = spacings.map(|clocks| {
            let train = (0..64).step_by(clocks as usize).fold(0, |train, clock| train | 1 << clock);
            Spacing { clocks, train }
        });
        Slots { taken: vec![0; WORDS], end: CLOCKS, spacings: spacings.collect() }
    }

    /// Number of clocks between two commands of a train that alternates between `rows` rows.
    #[inline]
    pub(super) fn spacing(&self, rows: usize) -> u64 {
        self.spacings[rows - 1].clocks
    }

    /// The earliest clock without a command, not before `from`.
    #[inline]
    pub(super) fn first_free(&self, from: u64) -> u64 {
        let clock = from.max(self.end - CLOCKS);
        // The result of the comparison is unpredictable, so a branch would be slow.
        let taken = select_unpredictable(clock < self.end, self.taken[word_of(clock)], 0);
        let free = !taken >> (clock % 64);
        if free != 0 {
            return clock + u64::from(free.trailing_zeros());
        }
        self.first_free_word((clock / 64 + 1) * 64)
    }

    /// Like [`Slots::first_free`], for a `clock` at the start of a word.
    fn first_free_word(&self, clock: u64) -> u64 {
        let free_in = |&clock: &u64| clock >= self.end || self.taken[word_of(clock)] != u64::MAX;
        let clock = (clock..).step_by(64).find(free_in).expect("there is an end");
        if clock < self.end { clock + u64::from(self.taken[word_of(clock)].trailing_ones()) } else { clock }
    }

    /// Issues a command at `clock`, which [`Slots::first_free`] must have returned.
    #[inline]
    pub(super) fn take(&mut self, clock: u64) {
        self.reach(clock);
        self.taken[word_of(clock)] |= 1 << (clock % 64);
    }

    /// Number of commands of a train that can be issued, i.e. those before the first occupied clock. The
    /// train has `count` commands, starts at `clock`, and alternates between `rows` rows.
    /// [`Slots::first_free`] must have returned `clock`.
    #[inline]
    pub(super) fn free_train(&self, clock: u64, count: u64, rows: usize) -> u64 {
        let mut free = 0;
        for (at, wanted, these) in Words::of(self.spacings[rows - 1], clock, count) {
            if at >= self.end {
                return count;
            }
            let taken = self.taken[word_of(at)] & wanted;
            if taken != 0 {
                let before = wanted & ((1 << taken.trailing_zeros()) - 1);
                return free + u64::from(before.count_ones());
            }
            free += these;
        }
        count
    }

    /// Issues the commands that [`Slots::free_train`] counts. Returns the number of these commands.
    #[inline]
    pub(super) fn take_train(&mut self, clock: u64, count: u64, rows: usize) -> u64 {
        let spacing = self.spacings[rows - 1];
        let length = spacing.clocks * (count - 1);
        self.reach(clock + length);
        if length < 64 {
            // The train is in at most two words.
            let wanted = spacing.train & (u64::MAX >> (63 - length));
            let (low, high) = (wanted << (clock % 64), (wanted >> 1) >> (63 - clock % 64));
            let (first, last) = (word_of(clock), word_of(clock + length));
            if (self.taken[first] & low) | (self.taken[last] & high) == 0 {
                self.taken[first] |= low;
                self.taken[last] |= high;
                return count;
            }
        }
        let mut given = 0;
        for (at, wanted, these) in Words::of(spacing, clock, count) {
            let word = &mut self.taken[word_of(at)];
            let taken = *word & wanted;
            if taken != 0 {
                let before = wanted & ((1 << taken.trailing_zeros()) - 1);
                *word |= before;
                return given + u64::from(before.count_ones());
            }
            *word |= wanted;
            given += these;
        }
        count
    }

    fn check(&mut self) -> Result<(), String> {
        let is_legal = self.end >= CLOCKS && self.end.is_multiple_of(64);
        if is_legal { Ok(()) } else { Err(format!("a command bus kept up to clock {}", self.end)) }
    }

    /// Extends the stored clocks up to `clock`.
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

/// Iterator over the words of [`Slots`] that a train occupies. Each item has the clock of the first command
/// in the word, the bits of the commands in the word, and the number of these commands.
struct Words {
    spacing: Spacing,
    at: u64,
    left: u64,
}

impl Words {
    #[inline]
    fn of(spacing: Spacing, clock: u64, count: u64) -> Words {
        Words { spacing, at: clock, left: count }
    }
}

impl Iterator for Words {
    type Item = (u64, u64, u64);

    #[inline]
    fn next(&mut self) -> Option<(u64, u64, u64)> {
        if self.left == 0 {
            return None;
        }
        let Spacing { clocks, train } = self.spacing;
        let at = self.at;
        let mut wanted = train << (at % 64);
        let mut these = u64::from(wanted.count_ones());
        if these > self.left {
            these = self.left;
            wanted &= u64::MAX >> (63 - (at % 64 + (these - 1) * clocks));
        }
        self.left -= these;
        self.at += these * clocks;
        Some((at, wanted, these))
    }
}

#[inline]
fn word_of(clock: u64) -> usize {
    (clock / 64) as usize % WORDS
}
