mod independent;

use super::Kind::{Activate, Precharge, Read, Refresh, Write};
use super::*;
use nacre_kernel::{Bytes, Random, Streams, Time};

fn ns(hundredths: u64) -> Time {
    Time::from_ps(hundredths * 10)
}

/// 4 Gbit of DDR3 SDRAM at 1600 MT/s, 11-11-11, with 2 KiB pages (alliance-as4c256m16d3b and jesd79-3).
fn ddr3() -> Part {
    Part {
        chip: Bytes(512 << 20),
        width: 16,
        row: Bytes(2048),
        banks: 8,
        groups: 1,
        burst: 8,
        clock: Time::from_ps(1250),
        rounding: Rounding::Up,
        read_latency: 11,
        write_latency: 8,
        activate_to_access: ns(1375),
        precharge: ns(1375),
        row_open: ns(3500),
        row_cycle: ns(4875),
        activate_to_activate: ns(750),
        activate_to_activate_in_group: None,
        four_activates: ns(4000),
        access_to_access: 4,
        access_to_access_in_group: None,
        write_recovery: ns(1500),
        write_to_read: ns(750),
        write_to_read_in_group: None,
        read_to_precharge: ns(750),
        rank_to_rank: 2,
        refresh_every: Some(Time::from_ns(7800)),
        refresh: Some(Time::from_ns(260)),
        activate_energy: None,
        read_energy: None,
        write_energy: None,
        refresh_energy: None,
    }
}

/// 8 Gbit of DDR4 SDRAM at 2400 MT/s, 17-17-17, with 1 KiB pages (jesd79-4).
fn ddr4() -> Part {
    Part {
        groups: 4,
        banks: 4,
        clock: Time::from_ps(833),
        rounding: Rounding::Ddr4,
        read_latency: 17,
        write_latency: 12,
        activate_to_access: ns(1416),
        precharge: ns(1416),
        row_open: ns(3200),
        row_cycle: ns(4616),
        activate_to_activate: Time::from_ps(3332),
        activate_to_activate_in_group: Some(ns(490)),
        four_activates: ns(2100),
        access_to_access_in_group: Some(ns(500)),
        write_to_read: ns(250),
        write_to_read_in_group: Some(ns(750)),
        refresh: Some(Time::from_ns(350)),
        ..ddr3()
    }
}

/// Compares the constraints in clocks with the clocks that a DDR4-2400 data sheet lists next to the
/// nanoseconds of each constraint. A tRFC of 350 ns is an exception: it takes one clock more with the clock
/// period 0.833 ns than with the 0.8333 ns of the standard.
#[test]
fn constraints_of_ddr4_in_nanoseconds_take_the_clocks_of_the_standard() {
    let clocks = |hundredths| ddr4().constraint(ns(hundredths));
    for (name, hundredths, expected) in [
        ("tRCD and tRP", 1416, 17),
        ("tRAS", 3200, 39),
        ("tRRD_L", 490, 6),
        ("tFAW", 2100, 26),
        ("tCCD_L", 500, 6),
        ("tWR", 1500, 18),
        ("tWTR_S", 250, 3),
        ("tWTR_L", 750, 9),
        ("tRTP", 750, 9),
        ("tRFC", 35_000, 421),
    ] {
        assert_eq!(clocks(hundredths), expected, "{name}");
    }
    // 2.6 % of a clock of 0.833 ns is 0.0217 ns.
    assert_eq!((clocks(835), clocks(836)), (10, 11));
}

/// 256 Mbit of STT-MRAM with DDR3 commands at 1066 MT/s, 8-47-36 (everspin-emd3d256m).
fn st_ddr3() -> Part {
    let clocks = |count: u64| Time::from_ps(count * 1876);
    Part {
        clock: clocks(1),
        read_latency: 8,
        write_latency: 6,
        activate_to_access: clocks(47),
        precharge: clocks(36),
        row_open: clocks(52),
        row_cycle: clocks(88),
        activate_to_activate: clocks(4),
        four_activates: ns(3750),
        write_to_read: clocks(4),
        read_to_precharge: clocks(5),
        refresh_every: None,
        refresh: None,
        ..ddr3()
    }
}

fn at(kind: Kind, rank: u32, bank: u32, row: u32) -> Command {
    Command { kind, location: Location { rank, bank, row } }
}

/// Issues all commands except the last one as early as possible. Returns the number of clocks from command
/// number `first` to the last command, which must not be possible one clock earlier.
fn wait(part: Part, commands: &[Command], first: usize) -> u64 {
    let mut channel = Channel::new(part, 2);
    let mut clocks = Vec::new();
    let (last, before) = commands.split_last().expect("there is a command");
    for &command in before {
        let clock = channel.probe(command, clocks.last().copied().unwrap_or(0)).expect("the state allows it");
        channel.issue(command, clock);
        clocks.push(clock);
    }
    let earliest = channel.probe(*last, clocks[clocks.len() - 1]).expect("the state allows it");
    let early = std::panic::catch_unwind({
        let mut channel = channel.clone();
        move || channel.issue(*last, earliest - 1)
    });
    assert!(early.is_err(), "{last:?} a clock early");
    channel.issue(*last, earliest);
    earliest - clocks[first]
}

/// Checks each constraint of DDR3-1600 to the clock. The clock period is 1.25 ns.
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
        assert_eq!(wait(ddr3(), commands, first), expected, "{name}");
    }
}

/// Checks the timings of everspin-emd3d256m: 8-47-36, and a tRTP of 5 clocks.
#[test]
fn mram_opens_and_closes_rows_more_slowly_and_needs_no_refresh() {
    let (open, read, close) = (at(Activate, 0, 0, 1), at(Read, 0, 0, 1), at(Precharge, 0, 0, 1));
    let part = st_ddr3();
    assert_eq!(wait(part.clone(), &[open, read], 0), 47);
    assert_eq!(wait(part.clone(), &[open, read, close], 1), 5);
    assert_eq!(wait(part.clone(), &[open, read, close, at(Activate, 0, 0, 2)], 2), 36);
    assert_eq!(wait(part.clone(), &[open, read, at(Write, 0, 0, 1)], 1), 8 + 4 + 2 - 6);
    assert_eq!(Channel::new(part, 1).probe(at(Refresh, 0, 0, 0), 0), Err(Unready::NeedsNoRefresh));
}

#[test]
fn groups_of_ddr4_are_kept_apart() {
    let part = ddr4();
    let (open, read, write) = (at(Activate, 0, 0, 1), at(Read, 0, 0, 1), at(Write, 0, 0, 1));
    // Banks 0 and 1 are in one group, and bank 4 is in the next.
    assert_eq!(wait(part.clone(), &[open, at(Activate, 0, 1, 1)], 0), 6);
    assert_eq!(wait(part.clone(), &[open, at(Activate, 0, 4, 1)], 0), 4);
    let two = [open, at(Activate, 0, 4, 1), read, at(Read, 0, 4, 1)];
    assert_eq!((wait(part.clone(), &[open, read, read], 1), wait(part.clone(), &two, 2)), (6, 4));
    let two = [open, at(Activate, 0, 4, 1), write, at(Read, 0, 4, 1)];
    assert_eq!(
        (wait(part.clone(), &[open, write, read], 1), wait(part.clone(), &two, 2)),
        (12 + 4 + 9, 12 + 4 + 3)
    );
}

#[test]
fn what_the_state_does_not_allow_is_told_from_what_is_early() {
    let mut channel = Channel::new(ddr3(), 1);
    assert_eq!(channel.probe(at(Read, 0, 0, 1), 0), Err(Unready::RowIsClosed));
    channel.issue(at(Activate, 0, 0, 1), 0);
    assert_eq!(channel.probe(at(Activate, 0, 0, 2), 0), Err(Unready::RowIsOpen));
    assert_eq!(channel.probe(at(Write, 0, 0, 2), 0), Err(Unready::RowIsClosed));
    assert_eq!(channel.probe(at(Refresh, 0, 0, 0), 0), Err(Unready::RankHasOpenRows));
    assert_eq!(channel.probe(at(Read, 0, 0, 1), 0), Ok(11));
    assert_eq!(channel.open_row(Location { rank: 0, bank: 0, row: 0 }), Some(1));
}

fn random_command(part: &Part, random: &mut Random) -> Command {
    let kind = [Activate, Activate, Read, Read, Write, Write, Precharge, Refresh][random.below(8) as usize];
    let bank = if kind == Refresh { 0 } else { random.below(u64::from(part.banks_in_all())) as u32 };
    at(kind, random.below(2) as u32, bank, random.below(2) as u32)
}

/// Checks that bursts issued together have the same clocks as bursts issued one by one. The bursts are
/// issued after all other commands, because a train that is inserted before other commands is not split.
#[test]
fn many_bursts_at_once_are_as_many_one_by_one() {
    let mut random = Streams::new(2).stream("bursts");
    for part in [ddr3(), ddr4(), st_ddr3()] {
        let (mut once, mut singly) = (Channel::new(part.clone(), 2), Channel::new(part.clone(), 2));
        let (mut from, mut behind) = (0, 0);
        for _ in 0..2000 {
            let command = random_command(&part, &mut random);
            let Ok(clock) = once.probe(command, from) else { continue };
            if matches!(command.kind, Read | Write) {
                let count = 1 + random.below(70);
                let (first, last) = once.give_bursts(command.kind, &[command.location], behind, count);
                let clocks: Vec<u64> = (0..count).map(|_| singly.give(command, behind)).collect();
                assert_eq!((first, last), (clocks[0], clocks[clocks.len() - 1]), "{command:?}");
                // The next command may be inserted among the bursts.
                (from, behind) = (first + random.below(last - first + 20), last);
            } else {
                assert_eq!((once.give(command, from), singly.give(command, from)), (clock, clock));
            }
        }
        for kind in [Activate, Read, Write, Precharge, Refresh] {
            assert_eq!(once.given(kind), singly.given(kind));
        }
    }
}

#[test]
fn a_row_as_a_whole_takes_the_clocks_of_its_commands() {
    let mut random = Streams::new(4).stream("whole rows");
    for part in [ddr3(), ddr4(), st_ddr3()] {
        let (mut whole, mut singly) = (Channel::new(part.clone(), 2), Channel::new(part.clone(), 2));
        let mut from = 0;
        for _ in 0..2000 {
            let command = random_command(&part, &mut random);
            let (location, count) = (command.location, 1 + random.below(20));
            let kind = if command.kind == Write { Write } else { Read };
            let given = whole.give_whole(kind, location, from, count);
            let opened = singly.give(Command { kind: Activate, location }, from);
            let (first, last) = singly.give_bursts(kind, &[location], from, count);
            let closed = singly.close_by_itself(location, first);
            assert_eq!(given, Whole { opened, first, last, closed }, "{kind:?} of {location:?}");
            from += random.below(40);
        }
    }
}

/// Checks that reads that alternate between four groups follow each other after tCCD_S (four clocks) instead
/// of tCCD_L (six clocks).
#[test]
fn rows_of_four_groups_are_read_in_turn() {
    let locations = [0, 4, 8, 12].map(|bank| Location { rank: 0, bank, row: 1 });
    let (mut once, mut singly) = (Channel::new(ddr4(), 1), Channel::new(ddr4(), 1));
    for channel in [&mut once, &mut singly] {
        let mut clock = 0;
        for location in locations {
            clock = channel.give(Command { kind: Activate, location }, clock);
        }
    }
    let (first, last) = once.give_bursts(Read, &locations, 0, 62);
    assert_eq!(last - first, 61 * 4);
    let mut clock = first;
    for number in 0..62 {
        clock = singly.give(Command { kind: Read, location: locations[number % 4] }, clock);
        assert_eq!(clock, first + number as u64 * 4);
    }
    for (bank, kind) in
        [(0, Read), (4, Read), (8, Read), (12, Read), (0, Write), (0, Precharge), (12, Precharge)]
    {
        let next = at(kind, 0, bank, 1);
        assert_eq!(once.probe(next, first), singly.probe(next, first), "{next:?}");
    }
}

#[test]
fn a_channel_takes_on_the_state_of_another() {
    let mut random = Streams::new(3).stream("state");
    let mut channel = Channel::new(ddr3(), 2);
    let mut step = |channels: &mut [&mut Channel], from| {
        let command = random_command(&ddr3(), &mut random);
        let clocks: Vec<_> = channels
            .iter_mut()
            .map(|channel| channel.probe(command, from).map(|_| channel.give(command, from)))
            .collect();
        assert!(clocks.windows(2).all(|pair| pair[0] == pair[1]), "{clocks:?}");
    };
    (0..500).for_each(|number| step(&mut [&mut channel], 20 * number));
    let mut other = Channel::new(ddr3(), 2);
    let state = nacre_kernel::state::saved(&channel).expect("it can be saved");
    nacre_kernel::state::restored(&mut other, &state).expect("it is its own");
    (500..1000).for_each(|number| step(&mut [&mut channel, &mut other], 20 * number));
}

/// Checks that an open row can be read at clocks 15 and 19, which are at least tRCD after the row is opened
/// and at least tRTP before it is closed. A read at clock 23 would be too late.
#[test]
fn a_row_is_read_before_it_is_closed_for_another_as_long_as_there_is_time() {
    let mut channel = Channel::new(ddr3(), 1);
    let row = |row| at(Read, 0, 0, row).location;
    channel.issue(at(Activate, 0, 0, 1), 0);
    assert_eq!(channel.give(at(Read, 0, 0, 1), 0), 11);
    let closed = channel.give(at(Precharge, 0, 0, 1), 0);
    let opened = channel.give(at(Activate, 0, 0, 2), 0);
    let read = channel.give(at(Read, 0, 0, 2), 0);
    assert_eq!((closed, opened, read), (28, 39, 50));
    assert_eq!(channel.give_before_closing(Read, row(3), 12, 1), None, "another row");
    assert_eq!(channel.give_before_closing(Read, row(1), 12, 3), None, "the third would be too late");
    assert_eq!(channel.give_before_closing(Read, row(1), 12, 1), Some((15, 15, 28)));
    assert_eq!(channel.give_before_closing(Read, row(1), 12, 1), Some((19, 19, 28)));
    assert_eq!(channel.give_before_closing(Read, row(1), 12, 1), None, "tRTP would be kept no more");
    assert_eq!(channel.given(Read), 4);
}
