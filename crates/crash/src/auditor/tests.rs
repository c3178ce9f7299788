use super::{Auditor, LogicalTime};
use nacre_kernel::{Persistence, Time};

const BLOCK: usize = 1024;

/// Two writes of block 0 and their data.
struct Written {
    auditor: Auditor,
    first: Vec<u8>,
    second: Vec<u8>,
}

/// Performs two writes of block 0. If `together`, the second write is submitted before the first write
/// completes.
fn written(atomic_unit: u32, together: bool) -> Written {
    let mut auditor = Auditor::new(BLOCK, atomic_unit, Persistence::OnAcknowledgement);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let done = |auditor: &mut Auditor, began: LogicalTime| auditor.done(began, (0, 1), Time::from_us(1));
    let began = auditor.writes(0, 1, &mut first);
    if !together {
        done(&mut auditor, began);
    }
    let later = auditor.writes(0, 1, &mut second);
    if together {
        done(&mut auditor, began);
    }
    done(&mut auditor, later);
    Written { auditor, first, second }
}

impl Written {
    /// Whether the auditor accepts `found` as the result of a read after both writes.
    fn may_hold(&mut self, found: &[u8]) -> bool {
        let began = self.auditor.advance();
        self.auditor.check_read(began, 0, found).is_ok()
    }

    fn halves(&self) -> Vec<u8> {
        [&self.first[..BLOCK / 2], &self.second[BLOCK / 2..]].concat()
    }
}

#[test]
fn of_writes_that_are_outstanding_together_either_may_be_last() {
    for atomic_unit in [512, 1024, 4096] {
        let mut of = written(atomic_unit, true);
        let (first, second) = (of.first.clone(), of.second.clone());
        assert!(of.may_hold(&first) && of.may_hold(&second));
        assert!(!of.may_hold(&[0; BLOCK]), "what was there before both is replaced");
    }
}

#[test]
fn they_mix_in_units_smaller_than_the_block_alone() {
    for (atomic_unit, may_mix) in [(512, true), (1024, false), (4096, false)] {
        let mut of = written(atomic_unit, true);
        let halves = of.halves();
        assert_eq!(of.may_hold(&halves), may_mix, "{atomic_unit} bytes");
    }
}

#[test]
fn a_write_behind_another_replaces_all_of_it() {
    for atomic_unit in [512, 4096] {
        let mut of = written(atomic_unit, false);
        let (first, second, halves) = (of.first.clone(), of.second.clone(), of.halves());
        assert!(of.may_hold(&second));
        assert!(!of.may_hold(&first) && !of.may_hold(&halves));
    }
}
