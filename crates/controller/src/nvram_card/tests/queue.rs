//! What a queue reaches that serves ready banks first, against a scheduler that looks at every clock.

use super::*;
use nacre_kernel::{Breakdown, Data, Random};
use nacre_media::dram::{Channel, Command, Kind, Part, Place};
use nacre_testkit::assert_close;

/// Clocks of a request of 64 B at random, by a controller with so many `entries` that is never without requests: in
/// every clock the oldest one whose row is open, else the oldest one whose bank is free, is given its command. Rows close
/// by themselves.
fn by_the_clock(part: &Part, ranks: u32, op: Op, entries: usize) -> f64 {
    const COUNT: u64 = 8000;
    let kind = if op == Op::Read { Kind::Read } else { Kind::Write };
    let mut random = Streams::new(7).stream("accesses");
    let mut any = || {
        let bank = random.below(u64::from(part.banks_in_all())) as u32;
        (Place { rank: random.below(u64::from(ranks)) as u32, bank, row: random.below(512) as u32 }, false)
    };
    let mut channel = Channel::new(part.clone(), ranks);
    let mut queue: Vec<(Place, bool)> = (0..entries).map(|_| any()).collect();
    let (mut clock, mut served) = (0, 0);
    while served < COUNT {
        let can = |kind, place| {
            channel.probe(Command { kind, place }, clock).is_ok_and(|earliest| earliest == clock)
        };
        let open = queue.iter().position(|&(place, is_open)| is_open && can(kind, place));
        if let Some(number) = open {
            let (place, _) = queue.remove(number);
            channel.issue(Command { kind, place }, clock);
            channel.close_by_itself(place, clock);
            queue.push(any());
            served += 1;
        } else if let Some(entry) =
            queue.iter_mut().find(|(place, is_open)| !is_open && can(Kind::Activate, *place))
        {
            channel.issue(Command { kind: Kind::Activate, place: entry.0 }, clock);
            entry.1 = true;
        }
        clock += 1;
    }
    clock as f64 / COUNT as f64
}

/// A completion that was said cannot be put off: of several ranks a scheduler that looks at every clock reads one after
/// the other more often, and one that serves each request where it finds room leaves gaps between them.
#[test]
fn small_requests_at_random_reach_what_a_queue_reaches_that_serves_ready_banks_first() {
    let host = format!("processing = \"0 s\"\n{NO_HOST}");
    for (name, card, ranks, tolerance) in [
        ("DDR3", unrefreshed(), 1, 0.12),
        ("MRAM", MRAM.to_string(), 1, 0.03),
        ("MRAM", MRAM.to_string(), 4, 0.2),
    ] {
        let part = part(&card);
        for op in [Op::Read, Op::Write] {
            for (entries, tolerance) in [(1, 0.03), (4, 0.05), (32, tolerance)] {
                let queue = format!("[device.scheduler]\nkind = \"fr_fcfs\"\nqueue = {entries}\n");
                let seen = at_random(&format!("{card}ranks = {ranks}\n{host}{queue}"), op, 64, 128, 10_000);
                let found = 1e9 / seen.per_second() / (part.clock.as_ps() as f64 / 1e3);
                let expected = by_the_clock(&part, ranks, op, entries);
                let what = format!("{name}, {ranks} ranks, {op:?}, {entries} entries");
                assert_close(&what, found, expected, tolerance);
            }
        }
    }
}

/// Banks at random, each going on in its row with a chance of one half.
struct Runs {
    random: Random,
    rows: [u64; 8],
}

impl Runs {
    fn new() -> Runs {
        Runs { random: Streams::new(11).stream("runs"), rows: [0; 8] }
    }

    /// The next bank and its row.
    fn next(&mut self) -> (u64, u64) {
        let bank = self.random.below(8);
        if self.random.chance(0.5) {
            self.rows[bank as usize] = self.random.below(512);
        }
        (bank, self.rows[bank as usize])
    }
}

/// Clocks of a read of 64 B by a controller with so many `entries` that is never without requests, of rows that stay open:
/// in every clock the oldest read whose row is open goes first, also before older ones to its bank, whose row is closed for
/// them when no read of it is left; then the oldest one whose bank can be opened or closed.
fn hits_first(part: &Part, entries: usize) -> f64 {
    const COUNT: u64 = 8000;
    let mut runs = Runs::new();
    let mut any = || {
        let (bank, row) = runs.next();
        Place { rank: 0, bank: bank as u32, row: row as u32 }
    };
    let mut channel = Channel::new(part.clone(), 1);
    let mut queue: Vec<Place> = (0..entries).map(|_| any()).collect();
    let (mut clock, mut served) = (0, 0);
    while served < COUNT {
        let can = |kind, place| {
            channel.probe(Command { kind, place }, clock).is_ok_and(|earliest| earliest == clock)
        };
        let is_hit = |place: Place| channel.open_row(place) == Some(place.row);
        let hit = queue.iter().position(|&place| is_hit(place) && can(Kind::Read, place));
        if let Some(number) = hit {
            let place = queue.remove(number);
            channel.issue(Command { kind: Kind::Read, place }, clock);
            queue.push(any());
            served += 1;
        } else {
            let is_wanted = |bank| queue.iter().any(|&place| place.bank == bank && is_hit(place));
            let next = queue.iter().find_map(|&place| match channel.open_row(place) {
                None if can(Kind::Activate, place) => Some(Command { kind: Kind::Activate, place }),
                Some(row) if row != place.row && !is_wanted(place.bank) && can(Kind::Precharge, place) => {
                    Some(Command { kind: Kind::Precharge, place })
                }
                _ => None,
            });
            if let Some(command) = next {
                channel.issue(command, clock);
            }
        }
        clock += 1;
    }
    clock as f64 / COUNT as f64
}

/// A read of an open row that would put an older one off waits for it here, since what that takes was said: where banks go
/// on in their rows half of the time, a queue that puts older reads off serves some more: with one, four and 32 entries this
/// one takes 1.00, 1.04 and 1.09 times its clocks.
#[test]
fn reads_that_find_their_row_open_come_near_a_queue_that_puts_older_ones_off_for_them() {
    let card = unrefreshed();
    let part = part(&card);
    for (entries, most) in [(1, 1.02), (4, 1.05), (32, 1.12)] {
        let mut device = built(&format!(
            "{card}rows = \"open\"\nprocessing = \"0 s\"\n{NO_HOST}[device.scheduler]\nkind = \"fr_fcfs\"\nqueue = {entries}\n"
        ));
        let mut runs = Runs::new();
        let seen = closed_loop(&mut *device, 128, 10_000, |_| {
            let (bank, row) = runs.next();
            Request {
                arrival: Time::ZERO,
                address: (row * 8 + bank) << 13,
                bytes: 64,
                volume: 0,
                op: Op::Read,
            }
        });
        let found = 1e9 / seen.per_second() / (part.clock.as_ps() as f64 / 1e3);
        let share = found / hits_first(&part, entries);
        assert!((0.98..most).contains(&share), "{entries} entries take {share} times the clocks: {found}");
    }
}

/// Three reads at the same time, of one bank: of a row, of another row, and of the first row again. The third finds the
/// row open that is to be closed for the second one, and goes before it where it leaves it its time.
#[test]
fn a_read_of_an_open_row_goes_before_an_older_one_of_its_bank_and_puts_it_off_by_nothing() {
    let latencies = |scheduler: &str, requests: &[u64]| {
        let card = unrefreshed();
        let mut device = built(&format!(
            "{card}rows = \"open\"\nscheduler = \"{scheduler}\"\nprocessing = \"0 s\"\n{NO_HOST}"
        ));
        let read = |&address: &u64| {
            let request = Request { arrival: Time::ZERO, address, bytes: 64, volume: 0, op: Op::Read };
            device.submit(Time::ZERO, &request, Data::None, &mut Breakdown::new()).done.as_ns_f64()
        };
        requests.iter().map(read).collect::<Vec<_>>()
    };
    let (first, other, again) = (0, 64 << 10, 64);
    let alone = latencies("fr_fcfs", &[first, other]);
    let [one, two, three] = latencies("fr_fcfs", &[first, other, again])[..] else { panic!("three") };
    assert_eq!([one, two], alone[..], "the older ones are not put off");
    // tCCD of four clocks of 1.875 ns behind the first.
    assert_close("behind the first", three - one, 4.0 * 1.875, 0.001);
    assert!(three < two);
    let in_order = latencies("fcfs", &[first, other, again]);
    assert!(in_order[2] > in_order[1], "{in_order:?}");
    // Bursts at 7, 11 and 15 clocks leave tRTP of four clocks before tRAS of 20 is over. One more opens the row anew.
    let all = latencies("fr_fcfs", &[first, other, again, 128, 192]);
    assert!(all[3] < two && all[4] > two && all[1] == two, "{all:?}");
}
