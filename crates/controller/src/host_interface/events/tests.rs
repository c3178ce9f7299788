//! Every interface against closed forms, before a device that serves at once.

use super::{HostPort, Leg, Part, Spent, build};
use crate::host_interface::HostInterfaceFamily;
use crate::workbench::{rooms, workbench};
use nacre_config::{Configuration, Slot};
use nacre_kernel::{Activity, Op, Pcie, Request, Time};
use nacre_testkit::assert_close;

/// The document around the interface under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The interface.
    host: Slot<HostInterfaceFamily>,
}

/// The port of the interface that the inside of a TOML table describes.
pub(crate) fn built(toml: &str) -> Box<dyn HostPort> {
    let document: Result<Document, _> = workbench(1).read(&format!("[host]\n{toml}"));
    let document = document.unwrap_or_else(|problems| panic!("{toml}: {problems}"));
    build(&document.host, rooms())
}

/// A request to a device that takes as long for each part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issued {
    pub(crate) at: Time,
    pub(crate) op: Op,
    pub(crate) bytes: u64,
}

/// When each request ends before a device that serves all parts at once, and where its time went: parts of `piece` bytes, or
/// of the size that the interface asks for.
pub(crate) fn served_at_once(
    port: &mut dyn HostPort,
    requests: &[Issued],
    piece: Option<u64>,
) -> Vec<(Time, Spent)> {
    let piece = piece.unwrap_or(port.piece());
    let mut device = Device {
        requests: requests.to_vec(),
        left: vec![0; requests.len()],
        ended: vec![None; requests.len()],
        spent: vec![Spent::nothing(); requests.len()],
        piece,
    };
    for number in 0..requests.len() {
        while port.next() < requests[number].at {
            device.step(port);
        }
        let Issued { at, op, bytes } = requests[number];
        let request = Request { arrival: at, address: 0, bytes: bytes as u32, volume: 0, op };
        let begun = port.submit(at, number as u32, &request, Time::ZERO);
        device.went(port, at, Part::whole(number as u32), Leg::Begun, begun);
    }
    while port.next() < Time::MAX {
        device.step(port);
    }
    port.check_invariants();
    let ended = device.ended.into_iter().map(|ended| ended.expect("it ends"));
    ended.zip(device.spent).collect()
}

struct Device {
    requests: Vec<Issued>,
    left: Vec<u64>,
    ended: Vec<Option<Time>>,
    spent: Vec<Spent>,
    piece: u64,
}

impl Device {
    fn step(&mut self, port: &mut dyn HostPort) {
        let next = port.next();
        while let Some(arrival) = port.pop_before(next + Time::from_ps(1)) {
            assert_eq!(arrival.at, next);
            self.went(port, next, arrival.part, arrival.leg, Some(arrival.spent));
        }
    }

    fn went(&mut self, port: &mut dyn HostPort, now: Time, part: Part, leg: Leg, spent: Option<Spent>) {
        let Some(spent) = spent else { return };
        let number = part.request as usize;
        let Issued { op, bytes, .. } = self.requests[number];
        let whole = self.piece;
        let size = |piece: u32| whole.min(bytes - u64::from(piece) * whole);
        match leg {
            Leg::Begun => {
                self.spent[number].add(&spent);
                let pieces = bytes.div_ceil(self.piece);
                self.left[number] = pieces;
                for piece in 0..pieces as u32 {
                    let part = Part { piece, ..part };
                    let brought = port.bring(now, part, op, size(piece));
                    self.went(port, now, part, Leg::Brought, brought);
                }
                if pieces == 0 {
                    let ended = port.end(now, part.request, op);
                    self.went(port, now, part, Leg::Ended, ended);
                }
            }
            Leg::Brought => {
                let answered = port.answer(now, part, op, size(part.piece));
                if self.left[number] == 1 {
                    self.spent[number].add(&spent);
                }
                self.went(port, now, part, Leg::Answered, answered);
            }
            Leg::Answered => {
                self.left[number] -= 1;
                if self.left[number] == 0 {
                    self.spent[number].add(&spent);
                    let ended = port.end(now, part.request, op);
                    self.went(port, now, part, Leg::Ended, ended);
                }
            }
            Leg::Ended => {
                self.spent[number].add(&spent);
                assert!(self.ended[number].replace(now).is_none(), "it ends once");
            }
        }
    }
}

fn ends(toml: &str, requests: &[Issued]) -> Vec<Time> {
    served_at_once(&mut *built(toml), requests, None).into_iter().map(|(ended, _)| ended).collect()
}

fn together(count: u64, op: Op, bytes: u64) -> Vec<Issued> {
    (0..count).map(|_| Issued { at: Time::ZERO, op, bytes }).collect()
}

fn alone(toml: &str, op: Op, bytes: u64) -> Time {
    ends(toml, &together(1, op, bytes))[0]
}

const LINK: Pcie = Pcie { generation: 3, lanes: 8, payload: 256, read_request: 512, long_addresses: true };

fn ns(bytes: u64) -> f64 {
    bytes as f64 / LINK.raw().0 * 1e9
}

#[test]
fn a_driver_and_its_link_take_what_the_slower_of_them_takes() {
    // 4,096 B at 2 GB/s are 2.048 us.
    let plain = "kind = \"direct\"\ndriver = \"1 us\"\nlink = \"2 GB/s\"";
    for (op, bytes, expected) in
        [(Op::Read, 4096, 3048), (Op::Write, 4096, 3048), (Op::Read, 8192, 3048 + 2048), (Op::Flush, 0, 1000)]
    {
        assert_eq!(alone(plain, op, bytes), Time::from_ns(expected), "{op:?} of {bytes}");
    }
    assert_eq!(ends(plain, &together(10, Op::Read, 4096))[9], Time::from_ns(1000 + 10 * 2048));
    let slow = "kind = \"direct\"\ndriver = \"5 us\"\ncpus = 2\nlink = \"2 GB/s\"";
    assert_eq!(ends(slow, &together(10, Op::Read, 4096))[9], Time::from_ns(5 * 5000 + 2 * 2048));
}

/// Nanoseconds of a command: driver, doorbell, fetch, data, completion, interrupt.
fn command_ns(op: Op, software_ns: f64, message: u64) -> f64 {
    let (flight, memory) = (150.0, 240.0);
    let fetch =
        |bytes| ns(LINK.read_request_bytes(bytes)) + ns(LINK.completion_bytes(bytes)) + 2.0 * flight + memory;
    let data = match op {
        Op::Read => ns(LINK.write_bytes(4096)),
        Op::Write => fetch(4096),
        _ => 0.0,
    };
    let told = ns(LINK.write_bytes(16)) + ns(message) + flight;
    software_ns + ns(LINK.write_bytes(4)) + flight + fetch(64) + data + told
}

#[test]
fn a_command_alone_takes_its_packets_its_flights_and_its_software() {
    let interrupt = LINK.write_bytes(4);
    for (settings, software_ns, message) in [
        ("", 3000.0, interrupt),
        ("notice = \"polling\"", 1500.0, 0),
        ("coalescing = \"8 us\"", 3000.0 + 8000.0, interrupt),
    ] {
        for (op, bytes) in [(Op::Read, 4096), (Op::Write, 4096), (Op::Flush, 0)] {
            let found = alone(&format!("kind = \"nvme\"\n{settings}"), op, bytes).as_ns_f64();
            let expected = command_ns(op, software_ns, message);
            assert!((found - expected).abs() < 0.02, "{settings:?}, {op:?}: {found}, expected {expected}");
        }
    }
}

/// Software and link are all that a request alone takes.
#[test]
fn the_time_of_a_request_alone_is_all_accounted_for() {
    for toml in ["kind = \"nvme\"", "kind = \"memory_window\"", "kind = \"cxl_mem\"\nlines = 1"] {
        for (op, bytes) in
            [(Op::Read, 64), (Op::Write, 64), (Op::Read, 4096), (Op::Write, 4096), (Op::Flush, 0)]
        {
            let served = served_at_once(&mut *built(toml), &together(1, op, bytes), None);
            let (ended, Spent { software, link, .. }) = &served[0];
            let waited = *ended - *software - *link;
            // Stores that are posted wait for each other on the link.
            let is_posted = toml.contains("window") && op == Op::Write && bytes > 64;
            assert!(waited.is_zero() || is_posted, "{toml}, {op:?} of {bytes}: {waited} of {ended}");
        }
    }
}

#[test]
fn one_interrupt_stands_for_all_completions_of_its_time() {
    let found = |settings: &str| {
        let mut port = built(&format!("kind = \"nvme\"\ndriver = \"0 s\"\n{settings}"));
        let flushes = [0, 1, 2, 3].map(|us| Issued { at: Time::from_us(us), op: Op::Flush, bytes: 0 });
        let ends = served_at_once(&mut *port, &flushes, None).into_iter().map(|(end, _)| end);
        (ends.collect::<Vec<_>>(), port.resources()[0].ledger.busy_s(Activity::Software))
    };
    let (apart, each) = found("");
    let (together, one) = found("coalescing = \"10 us\"");
    assert_close("each has its own", each, 4.0 * 2e-6, 1e-9);
    assert_close("one for all", one, 2e-6 + 3.0 * 0.5e-6, 1e-9);
    assert!(apart.windows(2).all(|pair| pair[0] < pair[1]));
    // The first takes the interrupt, the others come with it.
    assert_eq!(together[1], together[3]);
    assert!(together[0] > together[1] && together[1] > Time::from_us(10));
}

#[test]
fn commands_wait_for_a_place_in_their_pair() {
    let flushes = together(9, Op::Flush, 0);
    let last = |depth: &str| ends(&format!("kind = \"nvme\"\ncpus = 100\n{depth}"), &flushes)[8];
    let alone = last("");
    assert_eq!(last("queue_depth = 9"), alone);
    // Three after the other, three times.
    assert_eq!(last("queue_depth = 3").as_ps(), 3 * alone.as_ps());
    let of_pairs =
        |pairs: u32| ends(&format!("kind = \"nvme\"\nqueue_pairs = {pairs}\nqueue_depth = 1"), &flushes[..4]);
    let (one, four) = (of_pairs(1), of_pairs(4));
    assert!(four.iter().all(|&end| end == one[0]), "{four:?}");
    assert!(one.windows(2).all(|two| two[1] == two[0] + (one[0] - Time::ZERO)), "{one:?}");
}

/// 32 commands at the same time: those of a pair one fetch after the other, beside all other pairs.
#[test]
fn a_pair_has_one_fetch_under_way() {
    let fetch = ns(LINK.read_request_bytes(64)) + ns(LINK.completion_bytes(64)) + 2.0 * 150.0 + 240.0;
    let free = "driver = \"0 s\"\nreap = \"0 s\"\ninterrupt = \"0 s\"";
    for pairs in [1, 2, 8, 32] {
        let toml = format!("kind = \"nvme\"\n{free}\nqueue_pairs = {pairs}");
        let ends = ends(&toml, &together(32, Op::Flush, 0));
        for (number, end) in ends.iter().enumerate() {
            let expected = ends[0].as_ns_f64() + (number / pairs) as f64 * fetch;
            assert!((end.as_ns_f64() - expected).abs() < 0.1, "{pairs} pairs, {number}: {end}");
        }
    }
}

/// Pages of 4 KiB that are all brought or answered at once, without their commands: their rate, in bytes a second.
fn rate(settings: &str, op: Op) -> f64 {
    const COUNT: u32 = 2000;
    let mut port = built(&format!("kind = \"nvme\"\n{settings}"));
    for piece in 0..COUNT {
        let part = Part { request: 0, piece };
        let moved = match op {
            Op::Write => port.bring(Time::ZERO, part, op, 4096),
            _ => port.answer(Time::ZERO, part, op, 4096),
        };
        assert!(moved.is_none(), "data takes time");
    }
    let last = std::iter::from_fn(|| port.pop_before(Time::MAX)).map(|arrival| arrival.at).max();
    f64::from(COUNT * 4096) / last.expect("there are some").as_secs_f64()
}

/// `kernel::pcie` says what so few credits or tags leave.
#[test]
fn credits_and_tags_bound_what_is_under_way() {
    let there_and_back = Time::from_ns(300);
    for packets in [2, 4, 6] {
        let credits = packets * LINK.write_bytes(256);
        let expected = LINK.write_bandwidth_with(4096, packets * 256, there_and_back).0;
        assert_close("credits", rate(&format!("credits = \"{credits} B\""), Op::Read), expected, 0.01);
    }
    assert_close("enough credits", rate("", Op::Read), LINK.write_bandwidth(4096).0, 0.01);
    for tags in [1, 4, 16] {
        let expected = LINK.read_bandwidth_with(4096, tags, Time::from_ns(300 + 240)).0;
        assert_close("tags", rate(&format!("tags = {tags}"), Op::Write), expected, 0.01);
    }
    assert_close("enough tags", rate("tags = 256", Op::Write), LINK.read_bandwidth(4096).0, 0.01);
}

/// Nanoseconds from a load to its data.
fn round_trip_ns(bytes: u64) -> f64 {
    ns(LINK.read_request_bytes(bytes)) + ns(LINK.completion_bytes(bytes)) + 300.0
}

#[test]
fn loads_wait_for_each_other_and_stores_do_not() {
    for (settings, line, loads) in
        [("", 64, 1.0), ("write_combining = false", 8, 1.0), ("loads = 4", 64, 4.0)]
    {
        let found = |op| alone(&format!("kind = \"memory_window\"\n{settings}"), op, 256).as_ns_f64();
        let lines = (256 / line) as f64;
        let read = lines / loads * (10.0 + round_trip_ns(line)) + (loads - 1.0) * 10.0;
        assert_close(settings, found(Op::Read), read, 0.03);
        // The last store leaves when the CPU has issued all of them, or the link carried them.
        let store = ns(LINK.write_bytes(line));
        let stores = 10.0 + (lines - 1.0) * store.max(10.0) + store;
        assert_close(settings, found(Op::Write), stores + round_trip_ns(line), 0.03);
    }
}

/// A slot of 17 B there and five of them back, or the other way round.
#[test]
fn a_line_takes_its_slots_and_many_are_under_way() {
    let link = Pcie { generation: 5, ..LINK };
    let line = 5.0 + 70.0 + (17.0 + 85.0) / link.raw().0 * 1e9;
    for op in [Op::Read, Op::Write] {
        let found =
            |settings: &str, bytes| alone(&format!("kind = \"cxl_mem\"\n{settings}"), op, bytes).as_ns_f64();
        assert!((found("", 64) - line).abs() < 0.01, "{op:?}: {}", found("", 64));
        assert!((found("lines = 1", 640) - 10.0 * line).abs() < 0.1, "{op:?}: {}", found("lines = 1", 640));
        // Ten at once, of which the CPU issues one after the other.
        assert!((found("", 640) - line - 45.0).abs() < 0.1, "{op:?}: {}", found("", 640));
    }
}

/// A device that serves requests as a whole learns of a read with its first line and of a write with its last, and one that
/// serves at once ends them when one that serves line by line does.
#[test]
fn requests_served_as_a_whole_cross_line_by_line_too() {
    for toml in [
        "kind = \"nvme\"",
        "kind = \"memory_window\"",
        "kind = \"memory_window\"\nloads = 4",
        "kind = \"cxl_mem\"",
    ] {
        for op in [Op::Read, Op::Write] {
            let end = |piece| served_at_once(&mut *built(toml), &together(1, op, 4096), piece)[0].0;
            assert_eq!(end(None), end(Some(4096)), "{toml}, {op:?}");
        }
    }
}

const ALL: [&str; 4] = [
    "kind = \"direct\"\ndriver = \"1 us\"\ncpus = 1\nlink = \"2 GB/s\"",
    "kind = \"nvme\"\ncpus = 1\nqueue_depth = 2\ncoalescing = \"5 us\"",
    "kind = \"memory_window\"\ncpus = 1",
    "kind = \"cxl_mem\"\ncpus = 1",
];

/// After a power loss nothing is under way, and a request takes what it took at first.
#[test]
fn nothing_is_under_way_after_a_power_loss() {
    for toml in ALL {
        let mut port = built(toml);
        let alone = served_at_once(&mut *port, &together(1, Op::Write, 4096), None)[0].0;
        let mut port = built(toml);
        for number in 0..20 {
            let request = Request { arrival: Time::ZERO, address: 0, bytes: 4096, volume: 0, op: Op::Write };
            if port.submit(Time::ZERO, number, &request, Time::ZERO).is_some() {
                assert!(port.bring(Time::ZERO, Part::whole(number), Op::Write, 4096).is_none());
            }
        }
        let at = Time::from_ns(1500);
        while port.pop_before(at).is_some() {}
        port.power_fail(at);
        assert_eq!(port.next(), Time::MAX, "{toml}");
        let cpu = port.resources()[0].ledger.total_busy_s();
        assert!(cpu <= at.as_secs_f64(), "{toml}: one CPU worked {cpu} s");
        let again = Issued { at: Time::from_ms(1), op: Op::Write, bytes: 4096 };
        assert_eq!(served_at_once(&mut *port, &[again], None)[0].0 - again.at, alone, "{toml}");
    }
}

/// Whatever is served, software and link take no more than the time of a request, and its stages sum to it.
#[test]
fn looking_closely_changes_nothing() {
    for toml in ALL {
        let requests: Vec<Issued> = (0..60_u64)
            .map(|number| {
                let op = [Op::Write, Op::Flush, Op::Read][number as usize % 3];
                let bytes = if op == Op::Flush { 0 } else { 64 << (number % 7) };
                Issued { at: Time::from_ns(400 * number), op, bytes }
            })
            .collect();
        let mut close = built(toml);
        close.detail(true);
        let told = served_at_once(&mut *close, &requests, None);
        let plain = served_at_once(&mut *built(toml), &requests, None);
        for ((request, (end, told)), (same, spent)) in requests.iter().zip(&told).zip(&plain) {
            assert_eq!(end, same, "{toml}: {request:?}");
            assert_eq!((told.software, told.link, told.device), (spent.software, spent.link, spent.device));
            assert!(spent.laps.is_empty());
            assert!(spent.software + spent.link + spent.device <= *end - request.at, "{toml}: {request:?}");
            let spans = super::stage_spans(nacre_kernel::ComponentId(0), &told.laps, request.at, *end);
            let sum = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            assert_eq!(sum, *end - request.at, "{toml}: {request:?}");
            assert!(spans.iter().all(|span| span.stage != nacre_kernel::Stage::Untold), "{toml}: {spans:?}");
        }
    }
}
