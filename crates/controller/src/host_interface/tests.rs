//! Tests of all interfaces, and shared test code: a device that serves requests in zero time.

use super::{HostInterfaceFamily, HostPort, Leg, Part, Spent, build};
use crate::workbench::{models, workbench};
use nacre_config::{Configuration, Slot};
use nacre_kernel::{Op, Pcie, Request, Time};

/// A document with an interface.
#[derive(Debug, Configuration)]
struct Document {
    /// The interface.
    host: Slot<HostInterfaceFamily>,
}

/// The port that is built from the content of a TOML table.
pub(crate) fn built(toml: &str) -> Box<dyn HostPort> {
    let document: Result<Document, _> = workbench(1).read(&format!("[host]\n{toml}"));
    let document = document.unwrap_or_else(|problems| panic!("{toml}: {problems}"));
    build(&document.host, models()).unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// A request to a device with the same service time for each part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issued {
    pub(crate) at: Time,
    pub(crate) op: Op,
    pub(crate) bytes: u64,
}

/// End time and latency breakdown of each request on a device that serves parts in zero time. Parts have
/// `piece` bytes, or the size that the interface requires if `piece` is absent.
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
    for (number, &Issued { at, op, bytes }) in requests.iter().enumerate() {
        while port.next() < at {
            device.step(port);
        }
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

pub(super) fn ends(toml: &str, requests: &[Issued]) -> Vec<Time> {
    served_at_once(&mut *built(toml), requests, None).into_iter().map(|(ended, _)| ended).collect()
}

pub(super) fn together(count: u64, op: Op, bytes: u64) -> Vec<Issued> {
    (0..count).map(|_| Issued { at: Time::ZERO, op, bytes }).collect()
}

pub(super) fn alone(toml: &str, op: Op, bytes: u64) -> Time {
    ends(toml, &together(1, op, bytes))[0]
}

pub(super) const LINK: Pcie =
    Pcie { generation: 3, lanes: 8, payload: 256, read_request: 512, long_addresses: true };

pub(super) fn ns(bytes: u64) -> f64 {
    bytes as f64 / LINK.raw().0 * 1e9
}

/// If the device serves requests in zero time, the latency of a single request consists only of software
/// and link time.
#[test]
fn the_time_of_a_request_alone_is_all_accounted_for() {
    for toml in ["kind = \"nvme\"", "kind = \"memory_window\"", "kind = \"cxl_mem\"\nlines = 1"] {
        for (op, bytes) in
            [(Op::Read, 64), (Op::Write, 64), (Op::Read, 4096), (Op::Write, 4096), (Op::Flush, 0)]
        {
            let served = served_at_once(&mut *built(toml), &together(1, op, bytes), None);
            let (ended, Spent { software, link, .. }) = &served[0];
            let waited = *ended - *software - *link;
            // Posted stores wait for each other on the link.
            let is_posted = toml.contains("window") && op == Op::Write && bytes > 64;
            assert!(waited.is_zero() || is_posted, "{toml}, {op:?} of {bytes}: {waited} of {ended}");
        }
    }
}

/// A device that serves whole requests receives a read with its first line and a write with its last line.
/// If this device serves requests in zero time, requests end at the same time as on a device that serves
/// line by line.
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

/// After a power loss, no request is outstanding, and the next request takes as long as the first request.
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

/// Enabling stages does not change the times of requests. Software and link time do not exceed the latency
/// of a request, and the durations of all stages of the request sum to its latency.
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
