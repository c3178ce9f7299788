//! Compares the state machine of zones with an independent one, written from the NVMe Zoned Namespace Command
//! Set 1.1.
//!
//! An empty zone needs an active and an open resource to be opened, by a write or by command. A closed zone
//! needs only an open resource. If no open resource is left, a zone that was opened by a write is closed.
//! If all open zones were opened by command, the command is rejected. A zone is full when it is written to
//! its end or finished. Resetting a zone makes it empty; an empty zone stays empty. A power loss closes
//! open zones; zones without data become empty.

use super::{UNITS, ask, command, zone, zoned};
use crate::tests::driven::Driven;
use crate::tests::{column, counter, random, units};
use nacre_kernel::{Op, Random, Status, ZoneCommand, ZoneRefusal, ZoneState};

/// A zone in [`Spec`].
#[derive(Clone, Debug)]
struct Described {
    state: ZoneState,
    written: u64,
    last_write: u64,
}

const EMPTY: Described = Described { state: ZoneState::Empty, written: 0, last_write: 0 };

/// Zones according to the specification.
struct Spec {
    zones: Vec<Described>,
    active: usize,
    open: usize,
    writes: u64,
    refused: Vec<(ZoneRefusal, u64)>,
}

impl Spec {
    fn count(&self, of: &[ZoneState]) -> usize {
        self.zones.iter().filter(|zone| of.contains(&zone.state)).count()
    }

    fn refuse(&mut self, refusal: ZoneRefusal) -> Result<(), ZoneRefusal> {
        match self.refused.iter_mut().find(|(known, _)| *known == refusal) {
            Some((_, count)) => *count += 1,
            None => self.refused.push((refusal, 1)),
        }
        Err(refusal)
    }

    /// Opens a zone that is empty or closed.
    fn open(&mut self, number: usize, to: ZoneState) -> Result<(), ZoneRefusal> {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, ImplicitlyOpen};
        let open = self.count(&[ImplicitlyOpen, ExplicitlyOpen]);
        if self.zones[number].state == Empty && open + self.count(&[Closed]) == self.active {
            return self.refuse(ZoneRefusal::TooManyActive);
        }
        if open == self.open {
            let implicit = self.zones.iter_mut().filter(|zone| zone.state == ImplicitlyOpen);
            match implicit.min_by_key(|zone| zone.last_write) {
                Some(oldest) => oldest.state = Closed,
                None => return self.refuse(ZoneRefusal::TooManyOpen),
            }
        }
        self.zones[number].state = to;
        Ok(())
    }

    /// Writes `count` units at `offset`, or at the write pointer if `offset` is `None`. Returns an error if
    /// the write is rejected.
    fn write(&mut self, number: usize, offset: Option<u64>, count: u64) -> Result<(), ZoneRefusal> {
        let Described { state, written, .. } = self.zones[number];
        let offset = offset.unwrap_or(written);
        let checks = [
            (state != ZoneState::Full, ZoneRefusal::Full),
            (offset == written, ZoneRefusal::NotAtWritePointer),
            (offset + count <= UNITS, ZoneRefusal::Boundary),
        ];
        if let Some(&(_, refusal)) = checks.iter().find(|(is_kept, _)| !is_kept) {
            return self.refuse(refusal);
        }
        if matches!(state, ZoneState::Empty | ZoneState::Closed) {
            self.open(number, ZoneState::ImplicitlyOpen)?;
        }
        self.writes += 1;
        let zone = &mut self.zones[number];
        (zone.written, zone.last_write) = (written + count, self.writes);
        if zone.written == UNITS {
            zone.state = ZoneState::Full;
        }
        Ok(())
    }

    /// Performs a command other than an append. Returns an error if the command is rejected.
    fn command(&mut self, command: ZoneCommand, number: usize) -> Result<(), ZoneRefusal> {
        use ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen};
        let state = self.zones[number].state;
        match (command, state) {
            (ZoneCommand::Open | ZoneCommand::Close, Full) | (ZoneCommand::Close, Empty) => {
                return self.refuse(ZoneRefusal::InvalidTransition);
            }
            (ZoneCommand::Open, Empty | Closed) => return self.open(number, ExplicitlyOpen),
            (ZoneCommand::Open, ImplicitlyOpen | ExplicitlyOpen) => self.zones[number].state = ExplicitlyOpen,
            (ZoneCommand::Close, _) => self.zones[number].state = Closed,
            (ZoneCommand::Finish, _) => self.zones[number].state = Full,
            (ZoneCommand::Reset, _) => self.zones[number] = EMPTY,
            (ZoneCommand::Append, _) => unreachable!("it is a write"),
        }
        Ok(())
    }

    fn lose_power(&mut self) {
        for zone in &mut self.zones {
            match zone.state {
                ZoneState::Empty | ZoneState::Full => {}
                _ if zone.written == 0 => *zone = EMPTY,
                _ => zone.state = ZoneState::Closed,
            }
        }
    }
}

fn check(device: &Driven, spec: &Spec, step: &str) {
    for (number, described) in spec.zones.iter().enumerate() {
        let pointer = if described.state == ZoneState::Full { UNITS } else { described.written };
        let start = number as u64 * UNITS;
        let seen = zone(device, number as u64);
        let expected = ((start + pointer) * 4096, described.state);
        assert_eq!((seen.write_pointer, seen.state), expected, "{step}: zone {number}");
    }
    let report = device.report();
    let explicit = spec.count(&[ZoneState::ExplicitlyOpen]);
    for (name, count) in [
        ("empty", spec.count(&[ZoneState::Empty])),
        ("open", spec.count(&[ZoneState::ImplicitlyOpen]) + explicit),
        ("explicitly_open", explicit),
        ("closed", spec.count(&[ZoneState::Closed])),
        ("full", spec.count(&[ZoneState::Full])),
    ] {
        assert_eq!(column(&report, &format!("zones.{name}")) as usize, count, "{step}: {name} zones");
    }
    for (name, refusal) in [
        ("zone_full", ZoneRefusal::Full),
        ("not_at_write_pointer", ZoneRefusal::NotAtWritePointer),
        ("zone_boundary", ZoneRefusal::Boundary),
        ("too_many_active", ZoneRefusal::TooManyActive),
        ("too_many_open", ZoneRefusal::TooManyOpen),
        ("invalid_transition", ZoneRefusal::InvalidTransition),
    ] {
        let count = spec.refused.iter().find(|(known, _)| *known == refusal).map_or(0, |(_, count)| *count);
        assert_eq!(counter(&report, &format!("refused_{name}")), count, "{step}: {name}");
    }
}

/// Submits one random command. Most commands are writes at write pointers, so that zones become full and
/// limits are reached.
fn step(device: &mut Driven, spec: &mut Spec, random: &mut Random) {
    let number = random.below(spec.zones.len() as u64) as usize;
    let (start, written) = (number as u64 * UNITS, spec.zones[number].written);
    let fits = |count: u64| start + count <= device.unit_count();
    let (answer, expected) = match random.below(20) {
        0 => {
            let expected = spec.command(ZoneCommand::Reset, number);
            (ask(device, &units(Op::Trim, start, UNITS as u32)), expected)
        }
        1 if written > 0 && spec.zones[number].state != ZoneState::Full => {
            let expected = spec.command(ZoneCommand::Finish, number);
            (ask(device, &units(Op::Trim, start + written, (UNITS - written) as u32)), expected)
        }
        2 if random.below(10) == 0 => {
            spec.lose_power();
            let ready = device.fail(device.now).done;
            return device.run_to(ready);
        }
        kind @ 2..7 => {
            let asked = ZoneCommand::ALL[kind.max(3) as usize - 2];
            // Finish commands are rare, so that zones are written.
            if asked == ZoneCommand::Finish && random.below(3) > 0 {
                return;
            }
            let expected = spec.command(asked, number);
            (command(device, asked, number as u64, 0), expected)
        }
        7..12 => {
            let count = 1 + random.below(if fits(2 * UNITS) { 100 } else { 1 });
            let at = (start + written) * 4096;
            let expected = spec.write(number, None, count);
            let answer = command(device, ZoneCommand::Append, number as u64, count as u32);
            assert_eq!(answer.zone.written_at, expected.is_ok().then_some(at), "zone {number}");
            (answer, expected)
        }
        kind => {
            let offset = if kind == 12 { random.below(UNITS) } else { written.min(UNITS - 1) };
            let most = if kind == 13 { UNITS } else { UNITS - offset };
            let count = 1 + random.below(most.min(100));
            let count = if fits(offset + count) { count } else { 1 };
            let expected = spec.write(number, Some(offset), count);
            (ask(device, &units(Op::Write, start + offset, count as u32)), expected)
        }
    };
    let status = if expected.is_ok() { Status::Done } else { Status::WriteRefused };
    assert_eq!((answer.status, answer.zone.refusal), (status, expected.err()), "zone {number}");
}

#[test]
fn zones_have_the_states_of_the_specification_after_every_command() {
    for (active, open, more) in [
        (1, 1, ""),
        (3, 1, ""),
        (3, 3, ""),
        (5, 2, ""),
        (4, 2, "zone_dies = 2\nzone_superblocks = 2"),
        (5, 3, "zone_dies = 1\nzone_superblocks = 4"),
    ] {
        let settings = format!(
            "blocks = 16\nover_provisioning = \"60 %\"\nbuffer = \"128 KiB\"\nactive_zones = {active}\nopen_zones = {open}\n{more}"
        );
        let mut device = zoned(&settings);
        let count = (device.unit_count() / UNITS) as usize;
        let zones = vec![EMPTY; count];
        let mut spec = Spec { zones, active, open, writes: 0, refused: Vec::new() };
        let mut random = random(&format!("states of {active} and {open}"));
        for number in 0..3_000 {
            step(&mut device, &mut spec, &mut random);
            check(&device, &spec, &format!("{active} active, {open} open, step {number}"));
        }
        device.check_invariants();
        // If all active zones may be open, the limit of active zones is reached first.
        let is_met = |refusal: ZoneRefusal| spec.refused.iter().any(|(known, _)| *known == refusal);
        let reasons = [
            ZoneRefusal::Full,
            ZoneRefusal::NotAtWritePointer,
            ZoneRefusal::Boundary,
            ZoneRefusal::TooManyActive,
        ];
        assert!(reasons.into_iter().all(is_met), "{active}, {open}: {:?}", spec.refused);
        assert!(is_met(ZoneRefusal::InvalidTransition), "{active}, {open}: {:?}", spec.refused);
        assert_eq!(is_met(ZoneRefusal::TooManyOpen), open < active, "{active}, {open}");
        assert!(spec.count(&[ZoneState::Full]) > 0);
    }
}
