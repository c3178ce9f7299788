//! The state machine of zones against an independent one, written from the NVMe Zoned Namespace Command Set 1.1.
//!
//! A write to an empty zone needs an active and an open resource, one to a closed zone an open one. If no open resource
//! is left, a zone that was opened implicitly is closed. A zone is full when it is written to its end or finished. Resetting
//! a zone makes it empty; an empty zone stays so.

use super::{UNITS, ask, zone, zoned};
use crate::tests::driven::Driven;
use crate::tests::{column, counter, random, units};
use nacre_kernel::{Op, Random, Status};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Empty,
    Open,
    Closed,
    Full,
}

/// Zones as the specification has them: state, written units, and when each was written last.
struct Spec {
    zones: Vec<(State, u64, u64)>,
    active: usize,
    open: usize,
    writes: u64,
    refused: [u64; 4],
}

impl Spec {
    fn count(&self, of: &[State]) -> usize {
        self.zones.iter().filter(|(state, ..)| of.contains(state)).count()
    }

    /// Writes `count` units from `offset` on; whether it is taken.
    fn write(&mut self, number: usize, offset: u64, count: u64) -> bool {
        let (state, written, _) = self.zones[number];
        let has_resource = state != State::Empty || self.count(&[State::Open, State::Closed]) < self.active;
        let checks = [state != State::Full, offset == written, offset + count <= UNITS, has_resource];
        if let Some(reason) = checks.iter().position(|is_kept| !is_kept) {
            self.refused[reason] += 1;
            return false;
        }
        if state != State::Open && self.count(&[State::Open]) == self.open {
            let open = self.zones.iter_mut().filter(|zone| zone.0 == State::Open);
            open.min_by_key(|zone| zone.2).expect("there is one").0 = State::Closed;
        }
        self.writes += 1;
        let is_full = written + count == UNITS;
        self.zones[number] = (if is_full { State::Full } else { State::Open }, written + count, self.writes);
        true
    }

    /// Finishes a zone, as a trim of what lies behind the write pointer does; an empty or full one has no such trim.
    fn finish(&mut self, number: usize) {
        if matches!(self.zones[number].0, State::Open | State::Closed) {
            self.zones[number].0 = State::Full;
        }
    }
}

fn check(device: &Driven, spec: &Spec, step: &str) {
    for (number, &(state, written, _)) in spec.zones.iter().enumerate() {
        let pointer = if state == State::Full { UNITS } else { written };
        let start = number as u64 * UNITS;
        assert_eq!(
            zone(device, number as u64).write_pointer,
            (start + pointer) * 4096,
            "{step}: zone {number}"
        );
    }
    let report = device.report();
    for (name, state) in
        [("empty", State::Empty), ("open", State::Open), ("closed", State::Closed), ("full", State::Full)]
    {
        assert_eq!(
            column(&report, &format!("zones.{name}")) as usize,
            spec.count(&[state]),
            "{step}: {name} zones"
        );
    }
    let reasons = ["zone_full", "not_at_write_pointer", "zone_boundary", "too_many_active"];
    for (reason, count) in reasons.iter().zip(spec.refused) {
        assert_eq!(counter(&report, &format!("refused_{reason}")), count, "{step}: {reason}");
    }
}

/// One random command of a host: mostly writes at write pointers, so that zones get full and limits are met.
fn step(device: &mut Driven, spec: &mut Spec, random: &mut Random) {
    let number = random.below(spec.zones.len() as u64) as usize;
    let (start, written) = (number as u64 * UNITS, spec.zones[number].1);
    match random.below(10) {
        0 => {
            ask(device, &units(Op::Trim, start, UNITS as u32));
            spec.zones[number] = (State::Empty, 0, 0);
        }
        1 if written > 0 && spec.zones[number].0 != State::Full => {
            ask(device, &units(Op::Trim, start + written, (UNITS - written) as u32));
            spec.finish(number);
        }
        kind => {
            let offset = if kind == 2 { random.below(UNITS) } else { written.min(UNITS - 1) };
            let most = if kind == 3 { UNITS } else { UNITS - offset };
            let count = 1 + random.below(most.min(100));
            let fits = start + offset + count <= device.unit_count();
            let count = if fits { count } else { 1 };
            let answer = ask(device, &units(Op::Write, start + offset, count as u32));
            let expected =
                if spec.write(number, offset, count) { Status::Done } else { Status::WriteRefused };
            assert_eq!(answer.status, expected, "{count} units at {offset} of zone {number}");
        }
    }
}

#[test]
fn zones_have_the_states_of_the_specification_after_every_command() {
    for (active, open) in [(1, 1), (3, 1), (3, 3), (5, 2)] {
        let settings = format!(
            "blocks = 16\nover_provisioning = \"60 %\"\nbuffer = \"128 KiB\"\nactive_zones = {active}\nopen_zones = {open}"
        );
        let mut device = zoned(&settings);
        let count = (device.unit_count() / UNITS) as usize;
        let zones = vec![(State::Empty, 0, 0); count];
        let mut spec = Spec { zones, active, open, writes: 0, refused: [0; 4] };
        let mut random = random(&format!("states of {active} and {open}"));
        for number in 0..1_500 {
            step(&mut device, &mut spec, &mut random);
            check(&device, &spec, &format!("{active} active, {open} open, step {number}"));
        }
        device.check_invariants();
        let is_met = spec.refused.iter().all(|&count| count > 0);
        assert!(is_met && spec.count(&[State::Full]) > 0, "{active}, {open}: {:?}", spec.refused);
    }
}
