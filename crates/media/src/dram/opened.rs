//! Clocks at which rows of a rank were opened, and the search for gaps in which another row can be opened.

use super::holds::NEVER_BINDS;
use super::kind::Kind::Activate;
use super::rules::{Rule, Scope};
use nacre_kernel::state::{State, Value};

/// Maximum number of rows that are opened within tFAW.
const WINDOW: usize = 4;
/// Number of most recent openings that are always stored. Clocks before these openings are not searched for
/// gaps.
const KEPT: usize = 64;

/// Row openings of a rank, in clock order.
#[derive(Clone, Debug, State)]
pub(super) struct Opened {
    #[state(skip = "from the configuration")]
    spans: Spans,
    #[state(varies)]
    log: Vec<Opening>,
    /// Clock before which no opening can be inserted.
    begin: i64,
    /// Clock at and after which no gap between openings is large enough for another opening.
    filled_from: i64,
}

/// Minimum numbers of clocks between openings in different groups (`far`), between openings in the same group
/// (`near`), and from an opening to the fourth opening after it (`window`).
#[derive(Clone, Copy, Debug)]
struct Spans {
    far: i64,
    near: i64,
    window: i64,
}

#[derive(Clone, Copy, Debug, Value)]
struct Opening {
    clock: i64,
    group: u32,
}

impl Opened {
    /// Creates the state of a rank without openings. Its banks are in `groups` groups and follow `rules`.
    pub(super) fn new(rules: &[Rule], groups: u32) -> Opened {
        let clocks = |scope, nth| {
            let is_of = |rule: &&Rule| {
                (rule.scope, rule.earlier, rule.later, rule.nth) == (scope, Activate, Activate, nth)
            };
            rules.iter().filter(is_of).map(|rule| rule.clocks.cast_signed()).max().unwrap_or(0)
        };
        let far = clocks(Scope::Rank, 1);
        let near = clocks(Scope::Group, 1).max(far);
        // If there is only one group, all banks are in this group.
        let far = if groups == 1 { near } else { far };
        Opened {
            spans: Spans { far, near, window: clocks(Scope::Rank, WINDOW) },
            log: Vec::with_capacity(2 * KEPT),
            begin: NEVER_BINDS,
            filled_from: NEVER_BINDS,
        }
    }

    /// The earliest clock, not before `from`, at which a row of `group` can be opened after all other
    /// openings. `None` if the row may be opened before one of them.
    #[inline]
    pub(super) fn behind_all(&self, from: i64, group: u32) -> Option<i64> {
        let clock = from.max(self.begin);
        (clock >= self.filled_from).then(|| self.after(self.log.len(), clock, group))
    }

    /// The earliest clock, not before `from`, at which a row of `group` can be opened. Other openings may
    /// follow later.
    pub(super) fn earliest(&self, from: i64, group: u32) -> i64 {
        let mut clock = from.max(self.begin);
        let mut next = self.log.len();
        while next > 0 && self.log[next - 1].clock > clock {
            next -= 1;
        }
        while next < self.log.len() {
            if self.has_room(next) {
                clock = self.after(next, clock, group);
                if self.is_before(next, clock, group) {
                    return clock;
                }
            }
            next += 1;
        }
        self.after(next, clock, group)
    }

    /// Whether another opening fits before opening number `next`, if the constraints within a group are
    /// ignored.
    #[inline]
    fn has_room(&self, next: usize) -> bool {
        let Spans { far, window, .. } = self.spans;
        let clock = |number: usize| self.log[number].clock;
        // A window of five openings that includes the new opening has one, two, or three earlier openings.
        (next == 0 || clock(next) - clock(next - 1) >= 2 * far)
            && (1..WINDOW).all(|before| {
                let fifth = next + WINDOW - 1 - before;
                before > next || fifth >= self.log.len() || clock(fifth) - clock(next - before) >= window
            })
    }

    /// The earliest clock, not before `clock`, at which a row of `group` can be opened after all openings
    /// with numbers below `next`.
    #[inline]
    fn after(&self, next: usize, clock: i64, group: u32) -> i64 {
        let Spans { far, near, window } = self.spans;
        let mut clock = clock;
        if next > 0 {
            clock = clock.max(self.log[next - 1].clock + far);
        }
        if next >= WINDOW {
            clock = clock.max(self.log[next - WINDOW].clock + window);
        }
        if near > far {
            let mut before = self.log[..next].iter().rev().take_while(|opening| opening.clock + near > clock);
            if let Some(same) = before.find(|opening| opening.group == group) {
                clock = same.clock + near;
            }
        }
        clock
    }

    /// Whether a row of `group` can be opened at `clock` without delaying opening number `next` or a later
    /// opening.
    #[inline]
    fn is_before(&self, next: usize, clock: i64, group: u32) -> bool {
        let Spans { far, near, window } = self.spans;
        if clock + far > self.log[next].clock {
            return false;
        }
        let mut soon = self.log[next..].iter().take_while(|opening| opening.clock < clock + near);
        if near > far && soon.any(|opening| opening.group == group) {
            return false;
        }
        // This checks the fourth opening after the new one. `has_room` has checked the others.
        let fifth = self.log.get(next + WINDOW - 1);
        fifth.is_none_or(|fifth| fifth.clock >= clock + window)
    }

    /// Records that a row of `group` is opened at `clock`, which [`Opened::earliest`] must have returned.
    #[inline]
    pub(super) fn note(&mut self, clock: i64, group: u32) {
        let mut at = self.log.len();
        while at > 0 && self.log[at - 1].clock > clock {
            at -= 1;
        }
        if at == self.log.len() {
            self.log.push(Opening { clock, group });
        } else {
            self.log.insert(at, Opening { clock, group });
        }
        // Later openings can only make the gap before an opening smaller.
        if self.has_room(at) {
            self.filled_from = self.filled_from.max(clock);
        }
        if self.log.len() == 2 * KEPT {
            let last = self.log[KEPT - 1].clock;
            self.log.drain(..KEPT);
            self.begin = last + self.spans.window.max(self.spans.near);
        }
    }
}
