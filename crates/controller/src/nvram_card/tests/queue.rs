//! Compares the throughput of a queue that prefers ready banks with the throughput of a scheduler that
//! examines every clock.

use super::*;
use nacre_media::dram::{Channel, Command, Kind, Location, Part};
use nacre_testkit::assert_close;

/// Clocks per random request of 64 B, for a controller whose queue of `entries` entries is always full. In
/// every clock, the controller issues a command for the oldest request whose row is open. If no
/// request has an open row, it issues a command for the oldest request whose bank is free. Rows use auto-precharge.
fn by_the_clock(part: &Part, ranks: u32, op: Op, entries: usize) -> f64 {
    const COUNT: u64 = 8000;
    let kind = if op == Op::Read { Kind::Read } else { Kind::Write };
    let mut random = Streams::new(7).stream("accesses");
    let mut any = || {
        let bank = random.below(u64::from(part.banks_in_all())) as u32;
        (Location { rank: random.below(u64::from(ranks)) as u32, bank, row: random.below(512) as u32 }, false)
    };
    let mut channel = Channel::new(part.clone(), ranks);
    let mut queue: Vec<(Location, bool)> = (0..entries).map(|_| any()).collect();
    let (mut clock, mut served) = (0, 0);
    while served < COUNT {
        let can = |kind, location| {
            channel.probe(Command { kind, location }, clock).is_ok_and(|earliest| earliest == clock)
        };
        let open = queue.iter().position(|&(location, is_open)| is_open && can(kind, location));
        if let Some(number) = open {
            let (location, _) = queue.remove(number);
            channel.issue(Command { kind, location }, clock);
            channel.close_by_itself(location, clock);
            queue.push(any());
            served += 1;
        } else if let Some(entry) =
            queue.iter_mut().find(|(location, is_open)| !is_open && can(Kind::Activate, *location))
        {
            channel.issue(Command { kind: Kind::Activate, location: entry.0 }, clock);
            entry.1 = true;
        }
        clock += 1;
    }
    clock as f64 / COUNT as f64
}

/// Compares the rate of random reads and writes with the rate in [`by_the_clock`]. The simulation
/// [`nacre_testkit::oracle::dram_channel`] is not used, because it does not support several ranks.
#[test]
fn small_requests_at_random_reach_what_a_queue_reaches_that_serves_ready_banks_first() {
    let host = format!("processing = \"0 s\"\n{NO_HOST}");
    for (name, card, ranks) in
        [("DDR3", unrefreshed(), 1), ("MRAM", MRAM.to_string(), 1), ("MRAM", MRAM.to_string(), 4)]
    {
        let part = part(&card);
        for op in [Op::Read, Op::Write] {
            for entries in [1, 4, 32] {
                let queue = format!("[device.scheduler]\nkind = \"fr_fcfs\"\nqueue = {entries}\n");
                let seen = at_random(&format!("{card}ranks = {ranks}\n{host}{queue}"), op, 64, 128, 10_000);
                let found = 1e9 / seen.per_second() / (part.clock.as_ps() as f64 / 1e3);
                let expected = by_the_clock(&part, ranks, op, entries);
                let what = format!("{name}, {ranks} ranks, {op:?}, {entries} entries");
                assert_close(&what, found, expected, 0.015);
            }
        }
    }
}
