//! Pages that join a program which waits: the same page number of another plane, programmed by one command.

use nacre_kernel::Time;
use nacre_kernel::state::{State, Value};
use std::collections::VecDeque;

/// A page that is programmed together with another one.
#[derive(Clone, Copy, Debug, Value)]
struct Join {
    /// The numbers of their programs on the die.
    program: u32,
    with: u32,
}

/// Those of one die: of programs that wait, and a few that are over.
#[derive(Clone, Debug, Default, State)]
pub(super) struct Joins {
    /// The latest last.
    all: VecDeque<Join>,
    /// How much longer programs that wait take for them.
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
        self.all.push_back(Join { program, with });
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

    /// The program that the last page joined of which that `is_it`.
    pub(super) fn last_with(&self, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        self.all.iter().rev().find(|join| is_it(join.program)).map(|join| join.with)
    }

    /// What joins `with`.
    pub(super) fn parts(&self, with: u32) -> impl Iterator<Item = u32> {
        self.all.iter().filter(move |join| join.with == with).map(|join| join.program)
    }

    /// Forgets what joined programs that are not `known` any more.
    pub(super) fn forget(&mut self, known: impl Fn(u32) -> bool) {
        self.all.retain(|join| known(join.with));
    }
}
