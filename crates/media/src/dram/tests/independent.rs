//! An independent timing model, with which the channel is compared. Its constraints are conditions on pairs
//! of commands.

use super::super::Kind::{Activate, Precharge, Read, Refresh, Write};
use super::super::*;
use super::{at, ddr3, ddr4, random_command, st_ddr3};
use nacre_kernel::{Streams, Time};

/// Smallest number of clocks whose duration is at least `time`, found by trial. For DDR4, the duration may
/// be shorter than `time` by up to 0.026 clocks.
fn rounded(part: &Part, time: Time) -> u64 {
    let (time, clock) = (time.as_ps() as f64, part.clock.as_ps() as f64);
    let short = if part.rounding == Rounding::Ddr4 { 0.026 } else { 0.0 };
    (0..).find(|&clocks| (clocks as f64 + short) * clock >= time - 1e-6).expect("there is one")
}

/// Minimum number of clocks from `earlier` to `later`.
fn between(part: &Part, earlier: Command, later: Command) -> u64 {
    let clocks = |time: Time| rounded(part, time);
    let near = |time: Option<Time>, far: u64| time.map_or(far, clocks).max(far);
    let (a, b) = (earlier.location, later.location);
    let same_rank = a.rank == b.rank;
    let same_bank = same_rank && a.bank == b.bank;
    let same_group = same_rank && a.bank / part.banks == b.bank / part.banks;
    let data = part.burst / 2;
    let open = clocks(part.activate_to_activate);
    let rows = match (earlier.kind, later.kind) {
        (Activate, Read | Write) if same_bank => clocks(part.activate_to_access),
        (Activate, Precharge) if same_bank => clocks(part.row_open),
        (Activate, Activate) if same_bank => clocks(part.row_cycle),
        (Activate, Activate) if same_group => near(part.activate_to_activate_in_group, open),
        (Activate, Activate) if same_rank => open,
        (Precharge, Activate) if same_bank => clocks(part.precharge),
        (Precharge, Refresh) if same_rank => clocks(part.precharge),
        (Read, Precharge) if same_bank => clocks(part.read_to_precharge),
        (Write, Precharge) if same_bank => part.write_latency + data + clocks(part.write_recovery),
        (Refresh, Activate | Refresh) if same_rank => part.refresh.map_or(0, clocks),
        _ => 0,
    };
    let (far, turn) = (part.access_to_access, clocks(part.write_to_read));
    let bursts = match (earlier.kind, later.kind) {
        (Read, Read) | (Write, Write) if same_group => near(part.access_to_access_in_group, far),
        (Read, Read) | (Write, Write) if same_rank => far,
        (Read, Read) | (Write, Write) => data + part.rank_to_rank,
        (Read, Write) if same_rank => part.read_latency + far + 2 - part.write_latency,
        (Read, Write) => part.read_latency + data + part.rank_to_rank - part.write_latency,
        (Write, Read) => {
            let written = part.write_latency + data;
            match (same_group, same_rank) {
                (true, _) => written + near(part.write_to_read_in_group, turn),
                (_, true) => written + turn,
                _ => (written + part.rank_to_rank).saturating_sub(part.read_latency),
            }
        }
        _ => 0,
    };
    rows.max(bursts)
}

/// Whether `command` is possible at `clock`. No pair of commands may violate a constraint, and no five rows
/// may be opened within tFAW. Accesses to a bank keep their order, and so do refreshes of a rank.
fn is_legal(part: &Part, given: &[(Command, u64)], command: Command, clock: u64) -> bool {
    let location = command.location;
    let pairs = given.iter().all(|&(other, at)| {
        let same_rank = other.location.rank == location.rank;
        let is_refresh = other.kind == Refresh || command.kind == Refresh;
        let keeps_order = same_rank && (other.location.bank == location.bank || is_refresh);
        if at < clock {
            clock >= at + between(part, other, command)
        } else {
            at > clock && !keeps_order && at >= clock + between(part, command, other)
        }
    });
    if command.kind != Activate {
        return pairs;
    }
    let of_rank =
        |&&(other, _): &&(Command, u64)| other.kind == Activate && other.location.rank == location.rank;
    let mut opened: Vec<u64> = given.iter().filter(of_rank).map(|&(_, at)| at).chain([clock]).collect();
    opened.sort_unstable();
    pairs && opened.windows(5).all(|five| five[4] - five[0] >= rounded(part, part.four_activates))
}

fn slow_earliest(part: &Part, given: &[(Command, u64)], command: Command, from: u64) -> u64 {
    (from..).find(|&clock| is_legal(part, given, command, clock)).expect("there is an end to what was given")
}

/// Compares the clock of each random command with the independent model. Some commands are requested at
/// clocks long before the newest command, so that the channel inserts them between other commands.
#[test]
fn random_commands_are_ready_when_no_pair_of_commands_forbids_it() {
    let mut random = Streams::new(1).stream("commands");
    let (mut before_the_newest, mut data_before, mut rows_before) = (0, 0, 0);
    for part in [ddr3(), ddr4(), st_ddr3()] {
        let mut channel = Channel::new(part.clone(), 2);
        let (mut given, mut newest): (Vec<(Command, u64)>, u64) = (Vec::new(), 0);
        while given.len() < 1000 {
            let command = random_command(&part, &mut random);
            let from = (newest + random.below(40)).saturating_sub(random.below(120));
            let is_idle = command.kind == Precharge && channel.open_row(command.location).is_none();
            let Ok(earliest) = channel.probe(command, from) else { continue };
            if is_idle {
                continue;
            }
            // Earlier commands do not constrain this command.
            let recent = &given[given.len().saturating_sub(120)..];
            assert_eq!(earliest, slow_earliest(&part, recent, command, from), "{command:?} from {from}");
            channel.issue(command, earliest);
            let later = |kinds: &[super::Kind]| {
                given.iter().any(|(other, at)| *at > earliest && kinds.contains(&other.kind))
            };
            let is_data = matches!(command.kind, Read | Write);
            data_before += u64::from(is_data && later(&[Read, Write]));
            rows_before += u64::from(command.kind == Activate && later(&[Activate]));
            before_the_newest += u64::from(earliest < newest);
            given.push((command, earliest));
            newest = newest.max(earliest);
        }
    }
    assert!(before_the_newest > 250, "{before_the_newest}");
    assert!(data_before > 60 && rows_before > 25, "{data_before} of data, {rows_before} of rows");
}

/// Checks that no pair of commands violates a constraint if an access is inserted before its row is closed,
/// and that all other commands keep their clocks.
#[test]
fn what_goes_before_the_closing_of_its_row_keeps_all_constraints() {
    let mut random = Streams::new(3).stream("passing");
    let mut passed = 0;
    for part in [ddr3(), ddr4(), st_ddr3()] {
        let mut channel = Channel::new(part.clone(), 2);
        let (mut given, mut newest): (Vec<(Command, u64)>, u64) = (Vec::new(), 0);
        // For each bank whose row was closed by a command: the row, and the clocks between which it was open.
        let mut rows: Vec<(Command, u64, u64)> = Vec::new();
        while given.len() < 1500 {
            let mut command = random_command(&part, &mut random);
            let from = newest.saturating_sub(random.below(30));
            if let Some((of, ..)) = rows.last().filter(|_| matches!(command.kind, Read | Write)) {
                command.location = of.location;
            }
            let location = command.location;
            if random.below(2) == 0 && matches!(command.kind, Read | Write) {
                let found = channel.give_before_closing(command.kind, location, from, 1);
                let Some((clock, _, closed)) = found else { continue };
                let span = rows
                    .iter()
                    .rev()
                    .find(|(of, ..)| of.location.bank == location.bank && of.location.rank == location.rank);
                let &(of, opened, until) = span.expect("a row was closed");
                assert_eq!((of.location.row, until), (location.row, closed));
                assert!(
                    clock
                        >= opened
                            + between(
                                &part,
                                at(Activate, location.rank, location.bank, location.row),
                                command
                            )
                );
                assert!(until >= clock + between(&part, command, of), "{command:?} at {clock}");
                let others = given.iter().filter(|(other, _)| matches!(other.kind, Read | Write));
                for &(other, at) in others {
                    let keeps = if at < clock {
                        clock >= at + between(&part, other, command)
                    } else {
                        at >= clock + between(&part, command, other)
                    };
                    assert!(keeps && at != clock, "{command:?} at {clock}, {other:?} at {at}");
                }
                assert!(given.iter().all(|&(_, at)| at != clock), "one command a clock");
                given.push((command, clock));
                passed += 1;
                continue;
            }
            if command.kind == Refresh || command.kind == Precharge && channel.open_row(location).is_none() {
                continue;
            }
            let Ok(clock) = channel.probe(command, from) else { continue };
            if command.kind == Precharge {
                let row = channel.open_row(location).expect("it is open");
                let of = at(Precharge, location.rank, location.bank, row);
                let opening = |(other, _): &&(Command, u64)| {
                    other.kind == Activate
                        && (other.location.bank, other.location.rank) == (location.bank, location.rank)
                };
                let opened = given.iter().rev().find(opening).expect("it was opened").1;
                rows.push((of, opened, clock));
            }
            channel.issue(command, clock);
            given.push((command, clock));
            newest = newest.max(clock);
        }
    }
    assert!(passed > 40, "{passed}");
}
