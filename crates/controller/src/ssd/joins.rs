//! Pages that join a program which waits: the same page number of another plane, programmed by one command.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// How many a die remembers.
const MOST: usize = 1024;

/// A page that is programmed together with another one.
#[derive(Clone, Copy, Debug, Value)]
struct Join {
    /// The numbers of their programs on the die.
    program: u32,
    with: u32,
    /// How much longer the command takes for it.
    longer: Time,
}

/// Those of one die.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Joins {
    /// The latest last.
    all: VecDeque<Join>,
    /// How much longer those take that wait.
    pub(super) waiting: Time,
}

impl Joins {
    /// Whether no page joins another.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// `program` joins `with`, which waits, and makes it so much `longer`.
    pub(super) fn add(&mut self, program: u32, with: u32, longer: Time) {
        if self.all.len() == MOST {
            self.all.pop_front();
        }
        self.all.push_back(Join { program, with, longer });
        self.waiting += longer;
    }

    /// A page is programmed anew under a number that was used before.
    pub(super) fn renew(&mut self, program: u32) {
        self.all.retain(|join| join.program != program && join.with != program);
    }

    /// The program that `program` is a part of.
    pub(super) fn whole(&self, program: u32) -> u32 {
        self.all.iter().rev().find(|join| join.program == program).map_or(program, |join| join.with)
    }

    /// What joins `with`.
    pub(super) fn parts(&self, with: u32) -> impl Iterator<Item = u32> {
        self.all.iter().filter(move |join| join.with == with).map(|join| join.program)
    }

    /// How much longer `with` takes for what joins it.
    pub(super) fn longer(&self, with: u32) -> Time {
        self.all.iter().filter(|join| join.with == with).fold(Time::ZERO, |sum, join| sum + join.longer)
    }

    /// Forgets what joined programs that are not `known` any more.
    pub(super) fn forget(&mut self, known: impl Fn(u32) -> bool) {
        self.all.retain(|join| known(join.with));
    }
}
