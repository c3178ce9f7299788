use super::Kind::{Activate, Precharge, Read, Refresh, Write};
use super::*;
use nacre_kernel::{Random, Streams, Time};

fn at(kind: Kind, rank: u32, bank: u32, row: u32) -> Command {
    Command { kind, place: Place { rank, bank, row } }
}

/// Gives all but the last command as early as each may be, and says how long after the first of `first` the last
/// may be given: refused a clock before, taken then.
fn wait(part: Part, commands: &[Command], first: usize) -> u64 {
    let mut channel = Channel::new(part, 2);
    let mut clocks = Vec::new();
    let (last, before) = commands.split_last().expect("there is a command");
    for &command in before {
        let clock = channel.probe(command).expect("the state allows it");
        channel.issue(command, clock);
        clocks.push(clock);
    }
    let earliest = channel.probe(*last).expect("the state allows it");
    let early = std::panic::catch_unwind({
        let mut channel = channel.clone();
        move || channel.issue(*last, earliest - 1)
    });
    assert!(early.is_err(), "{last:?} a clock early");
    channel.issue(*last, earliest);
    earliest - clocks[first]
}

/// Clocks of DDR3-1600: 1.25 ns.
#[test]
fn every_constraint_of_ddr3_is_kept_to_the_clock() {
    let open = at(Activate, 0, 0, 1);
    let (read, write, close) = (at(Read, 0, 0, 1), at(Write, 0, 0, 1), at(Precharge, 0, 0, 1));
    let other = |bank| at(Activate, 0, bank, 1);
    let cases: [(&str, &[Command], usize, u64); 16] = [
        ("tRCD to a read", &[open, read], 0, 11),
        ("tRCD to a write", &[open, write], 0, 11),
        ("tRAS", &[open, close], 0, 28),
        ("tRC", &[open, close, at(Activate, 0, 0, 2)], 0, 39),
        ("tRP", &[open, write, close, at(Activate, 0, 0, 2)], 2, 11),
        ("tRTP", &[open, read, read, read, read, read, close], 5, 6),
        ("tWR", &[open, write, close], 1, 8 + 4 + 12),
        ("tRRD", &[open, other(1)], 0, 6),
        ("tFAW", &[open, other(1), other(2), other(3), other(4)], 0, 32),
        ("tCCD of reads", &[open, read, read], 1, 4),
        ("tCCD of writes", &[open, write, write], 1, 4),
        ("a read, then a write", &[open, read, write], 1, 11 + 4 + 2 - 8),
        ("tWTR", &[open, write, read], 1, 8 + 4 + 6),
        ("tRFC", &[at(Refresh, 0, 0, 0), open], 0, 208),
        ("tRP to a refresh", &[open, close, at(Refresh, 0, 0, 0)], 1, 11),
        ("another rank's data", &[open, at(Activate, 1, 0, 1), read, at(Read, 1, 0, 1)], 2, 4 + 2),
    ];
    for (name, commands, first, expected) in cases {
        assert_eq!(wait(DDR3_1600_4GBIT, commands, first), expected, "{name}");
    }
}

/// everspin-emd3d256m: 8-47-36, tRTP of 5 clocks.
#[test]
fn mram_opens_and_closes_rows_more_slowly_and_needs_no_refresh() {
    let (open, read, close) = (at(Activate, 0, 0, 1), at(Read, 0, 0, 1), at(Precharge, 0, 0, 1));
    let part = ST_DDR3_1066_256MBIT;
    assert_eq!(wait(part, &[open, read], 0), 47);
    assert_eq!(wait(part, &[open, read, close], 1), 5);
    assert_eq!(wait(part, &[open, read, close, at(Activate, 0, 0, 2)], 2), 36);
    assert_eq!(wait(part, &[open, read, at(Write, 0, 0, 1)], 1), 8 + 4 + 2 - 6);
    assert_eq!(Channel::new(part, 1).probe(at(Refresh, 0, 0, 0)), Err(Unready::NeedsNoRefresh));
}

#[test]
fn groups_of_ddr4_are_kept_apart() {
    let part = DDR4_2400_8GBIT;
    let (open, read, write) = (at(Activate, 0, 0, 1), at(Read, 0, 0, 1), at(Write, 0, 0, 1));
    // Banks 0 and 1 are of one group, bank 4 of the next.
    assert_eq!(wait(part, &[open, at(Activate, 0, 1, 1)], 0), 6);
    assert_eq!(wait(part, &[open, at(Activate, 0, 4, 1)], 0), 4);
    let two = [open, at(Activate, 0, 4, 1), read, at(Read, 0, 4, 1)];
    assert_eq!((wait(part, &[open, read, read], 1), wait(part, &two, 2)), (7, 4));
    let two = [open, at(Activate, 0, 4, 1), write, at(Read, 0, 4, 1)];
    assert_eq!((wait(part, &[open, write, read], 1), wait(part, &two, 2)), (12 + 4 + 10, 12 + 4 + 4));
}

#[test]
fn what_the_state_does_not_allow_is_told_from_what_is_early() {
    let mut channel = Channel::new(DDR3_1600_4GBIT, 1);
    assert_eq!(channel.probe(at(Read, 0, 0, 1)), Err(Unready::RowIsClosed));
    channel.issue(at(Activate, 0, 0, 1), 0);
    assert_eq!(channel.probe(at(Activate, 0, 0, 2)), Err(Unready::RowIsOpen));
    assert_eq!(channel.probe(at(Write, 0, 0, 2)), Err(Unready::RowIsClosed));
    assert_eq!(channel.probe(at(Refresh, 0, 0, 0)), Err(Unready::RankHasOpenRows));
    assert_eq!(channel.probe(at(Read, 0, 0, 1)), Ok(11));
    assert_eq!(channel.open_row(Place { rank: 0, bank: 0, row: 0 }), Some(1));
}

/// The same constraints once more, as conditions on a pair of commands: clocks that the later one has to keep.
fn between(part: &Part, earlier: Command, later: Command) -> u64 {
    let clocks = |span: Span| span.in_clocks(part.clock);
    let (a, b) = (earlier.place, later.place);
    let same_rank = a.rank == b.rank;
    let same_bank = same_rank && a.bank == b.bank;
    let same_group = same_rank && a.bank / part.banks == b.bank / part.banks;
    let data = part.burst / 2;
    let rows = match (earlier.kind, later.kind) {
        (Activate, Read | Write) if same_bank => clocks(part.activate_to_access),
        (Activate, Precharge) if same_bank => clocks(part.row_open),
        (Activate, Activate) if same_bank => clocks(part.row_cycle),
        (Activate, Activate) if same_group => clocks(part.activate_to_activate_in_group),
        (Activate, Activate) if same_rank => clocks(part.activate_to_activate),
        (Precharge, Activate) if same_bank => clocks(part.precharge),
        (Precharge, Refresh) if same_rank => clocks(part.precharge),
        (Read, Precharge) if same_bank => clocks(part.read_to_precharge),
        (Write, Precharge) if same_bank => part.write_latency + data + clocks(part.write_recovery),
        (Refresh, Activate | Refresh) if same_rank => part.refresh.map_or(0, |(_, span)| clocks(span)),
        _ => 0,
    };
    let bursts = match (earlier.kind, later.kind) {
        (Read, Read) | (Write, Write) if same_group => clocks(part.access_to_access_in_group),
        (Read, Read) | (Write, Write) if same_rank => clocks(part.access_to_access),
        (Read, Read) | (Write, Write) => data + clocks(part.rank_to_rank),
        (Read, Write) if same_rank => {
            part.read_latency + clocks(part.access_to_access) + 2 - part.write_latency
        }
        (Read, Write) => part.read_latency + data + clocks(part.rank_to_rank) - part.write_latency,
        (Write, Read) => {
            let written = part.write_latency + data;
            match (same_group, same_rank) {
                (true, _) => written + clocks(part.write_to_read_in_group),
                (_, true) => written + clocks(part.write_to_read),
                _ => (written + clocks(part.rank_to_rank)).saturating_sub(part.read_latency),
            }
        }
        _ => 0,
    };
    rows.max(bursts).max(1)
}

/// The first clock from the last command on that no pair of commands forbids, nor five rows opened within tFAW.
fn slow_earliest(part: &Part, given: &[(Command, u64)], command: Command) -> u64 {
    let pairs = given.iter().map(|&(earlier, clock)| clock + between(part, earlier, command));
    let opened = given
        .iter()
        .filter(|(earlier, _)| earlier.kind == Activate && earlier.place.rank == command.place.rank);
    let mut opened: Vec<u64> = opened.map(|&(_, clock)| clock).collect();
    opened.reverse();
    let window = opened.get(3).filter(|_| command.kind == Activate);
    let window = window.map_or(0, |clock| clock + part.four_activates.in_clocks(part.clock));
    pairs.max().unwrap_or(0).max(window)
}

fn random_command(part: &Part, random: &mut Random) -> Command {
    let kind = [Activate, Activate, Read, Read, Write, Write, Precharge, Refresh][random.below(8) as usize];
    let bank = if kind == Refresh { 0 } else { random.below(u64::from(part.banks * part.groups)) as u32 };
    at(kind, random.below(2) as u32, bank, random.below(2) as u32)
}

#[test]
fn random_commands_are_ready_when_no_pair_of_commands_forbids_it() {
    let mut random = Streams::new(1).stream("commands");
    for part in [DDR3_1600_4GBIT, DDR4_2400_8GBIT, ST_DDR3_1066_256MBIT] {
        let mut channel = Channel::new(part, 2);
        let mut given: Vec<(Command, u64)> = Vec::new();
        while given.len() < 1500 {
            let command = random_command(&part, &mut random);
            let Ok(earliest) = channel.probe(command) else { continue };
            assert_eq!(
                earliest,
                slow_earliest(&part, &given, command),
                "{command:?} after {:?}",
                given.last()
            );
            // Now and then a little later than possible.
            let clock = earliest + if random.chance(0.3) { random.below(20) } else { 0 };
            channel.issue(command, clock);
            given.push((command, clock));
        }
    }
}

/// Clocks per access of many back-to-back accesses.
fn clocks_per_access(part: Part, count: u64, place: impl Fn(u64) -> Place, is_write: bool) -> f64 {
    let mut channel = Channel::new(part, 2);
    let done = (0..count).map(|number| channel.access(Time::ZERO, place(number), is_write).done).last();
    done.expect("there were accesses").as_ps() as f64 / part.clock.as_ps() as f64 / count as f64
}

#[test]
fn back_to_back_accesses_take_what_the_constraint_that_binds_takes() {
    const COUNT: u64 = 20_000;
    let ddr3 = Part { refresh: None, ..DDR3_1600_4GBIT };
    let ddr4 = Part { refresh: None, ..DDR4_2400_8GBIT };
    let row_of_bank = |_| Place { rank: 0, bank: 0, row: 1 };
    let rows_of_bank = |number| Place { rank: 0, bank: 0, row: number as u32 };
    let groups_in_turn = |number: u64| Place { rank: 0, bank: 4 * (number as u32 % 4), row: 1 };
    let ranks_in_turn = |number: u64| Place { rank: number as u32 % 2, bank: 0, row: 1 };
    for (name, part, place, is_write, expected) in [
        ("tCCD: 64 B in 5 ns, 12.8 GB/s", ddr3, &row_of_bank as &dyn Fn(u64) -> Place, false, 4.0),
        ("tRC: a row each", ddr3, &rows_of_bank, false, 39.0),
        ("tRCD, write, tWR, tRP: a row each", ddr3, &rows_of_bank, true, (11 + 8 + 4 + 12 + 11) as f64),
        ("tRTRS: ranks in turn", ddr3, &ranks_in_turn, false, 6.0),
        ("tCCD_L: one group", ddr4, &row_of_bank, false, 7.0),
        ("tCCD_S: groups in turn", ddr4, &groups_in_turn, false, 4.0),
        ("MRAM, tCCD: an open row is as fast as in DRAM", ST_DDR3_1066_256MBIT, &row_of_bank, false, 4.0),
        ("MRAM, tRC: a row each", ST_DDR3_1066_256MBIT, &rows_of_bank, false, 88.0),
    ] {
        let measured = clocks_per_access(part, COUNT, place, is_write);
        assert!((measured / expected - 1.0).abs() < 0.005, "{name}: {measured}, expected {expected}");
    }
}

#[test]
fn refreshing_takes_its_share() {
    const COUNT: u64 = 200_000;
    let place = |_| Place { rank: 0, bank: 0, row: 1 };
    let with = clocks_per_access(DDR3_1600_4GBIT, COUNT, place, false);
    let without = clocks_per_access(Part { refresh: None, ..DDR3_1600_4GBIT }, COUNT, place, false);
    // 208 of 6240 clocks, and to close the row before and open it after: tRTP, tRP, tRCD, less the last tCCD.
    let share = (208.0 + 6.0 + 11.0 + 11.0 - 4.0) / 6240.0;
    assert!(
        (1.0 - without / with - share).abs() < 0.001,
        "{} of the time, expected {share}",
        1.0 - without / with
    );
}

/// Clocks per access when so many of them are under way: of their next commands the one that is ready first is
/// given. Accesses to one bank keep their order.
fn clocks_per_access_side_by_side(part: Part, count: u64, banks: u64) -> f64 {
    let mut channel = Channel::new(part, 1);
    let place = |number: u64| Place { rank: 0, bank: (number % banks) as u32, row: (number / banks) as u32 };
    let mut under_way: Vec<u64> = (0..banks).collect();
    let (mut next, mut last) = (banks, 0);
    while !under_way.is_empty() {
        let ready = under_way.iter().enumerate().map(|(at, &number)| {
            let place = place(number);
            let kind = match channel.open_row(place) {
                Some(row) if row == place.row => Read,
                Some(_) => Precharge,
                None => Activate,
            };
            let command = Command { kind, place };
            (channel.probe(command).expect("the state allows it"), at, command)
        });
        let (clock, at, command) = ready.min_by_key(|&(clock, at, _)| (clock, at)).expect("one is under way");
        channel.issue(command, clock);
        if command.kind == Read {
            under_way.remove(at);
            under_way.extend((next < count).then_some(next));
            next += 1;
            last = clock;
        }
    }
    last as f64 / count as f64
}

#[test]
fn rows_of_many_banks_are_opened_as_often_as_four_at_a_time_allow() {
    let ddr3 = Part { refresh: None, ..DDR3_1600_4GBIT };
    // Eight banks: four rows in tFAW. Two banks: a row each in tRC. MRAM: eight rows in tRC.
    for (part, banks, expected) in
        [(ddr3, 8, 32.0 / 4.0), (ddr3, 2, 39.0 / 2.0), (ST_DDR3_1066_256MBIT, 8, 88.0 / 8.0)]
    {
        let measured = clocks_per_access_side_by_side(part, 8000, banks);
        assert!((measured / expected - 1.0).abs() < 0.01, "{banks} banks: {measured}, expected {expected}");
    }
}
