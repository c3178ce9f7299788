use super::{Clients, Script, Server, ServiceStep};
use crate::testing::{Host, serve};
use crate::{Interactive, Issued, Workload};
use nacre_kernel::state::{self, State};
use nacre_kernel::{Op, Status, Time};

/// A script whose requests consist of CPU time and one read.
#[derive(State)]
struct Simple {
    asked: u64,
    #[state(skip = "of the test")]
    work: Time,
}

impl Script for Simple {
    fn next(&mut self, steps: &mut Vec<ServiceStep>) {
        self.asked += 1;
        steps.extend([ServiceStep::Work(self.work), ServiceStep::Read(0, 512)]);
    }

    fn reach(&self) -> u64 {
        512
    }

    fn describe(&self) -> (&'static str, &'static str, String) {
        ("simple", "questions", String::new())
    }
}

/// Client requests per second on storage with the latency `storage`.
fn rate(clients: u32, processors: u32, work: Time, storage: Time) -> f64 {
    let server = Server { clients, think: Time::ZERO, processors };
    let mut server = Clients::new(Simple { asked: 0, work }, server, None);
    let mut host = Host::default();
    while host.now < Time::from_s(2) {
        assert!(host.advance(&mut server, |_| storage), "it never ends");
    }
    let units = server.units(host.issued.len() as u64).expect("it has units").done;
    units as f64 / host.now.as_secs_f64()
}

/// Compares the throughput with that of a closed loop: the number of clients divided by the round-trip
/// time, or the limit of the CPUs if that is lower.
#[test]
fn throughput_is_that_of_the_closed_loop() {
    let us = Time::from_us;
    for (clients, processors, expected) in [(1, 1, 1e6 / 300.0), (8, 8, 8e6 / 300.0), (8, 1, 1e6 / 100.0)] {
        let found = rate(clients, processors, us(100), us(200));
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{clients} {processors}: {found}, expected {expected}"
        );
    }
}

/// Compares the read times of two clients that share one CPU with times calculated by hand. Each read
/// follows 10 us of CPU time. The first read of the second client takes 101 us. All other reads take 5 us.
#[test]
fn clients_meet_at_the_processor_in_the_order_of_their_completions() {
    let server = Server { clients: 2, think: Time::ZERO, processors: 1 };
    let mut server = Clients::new(Simple { asked: 0, work: Time::from_us(10) }, server, Some(12));
    let mut number = 0;
    let requests = serve(&mut server, |_| {
        number += 1;
        Time::from_us(if number == 2 { 101 } else { 5 })
    });
    let times: Vec<u64> = requests.iter().map(|request| request.arrival.as_ps() / 1_000_000).collect();
    // At 121 us, the second client gets the CPU before the first, whose read issued at 120 us completes at
    // 125 us.
    assert_eq!(times, [10, 20, 30, 45, 60, 75, 90, 105, 120, 131, 141, 151]);
    assert_eq!(server.units(12).map(|units| units.done), Some(12));
}

/// Tests that four clients share two CPUs in the order of arrival without preemption, and that one step
/// issues all requests that are due at the same time.
#[test]
fn a_step_issues_all_requests_of_its_instant() {
    let server = Server { clients: 4, think: Time::from_us(7), processors: 2 };
    let mut server = Clients::new(Simple { asked: 0, work: Time::from_us(10) }, server, None);
    let mut issued: Vec<Issued> = Vec::new();
    let steps: Vec<(u64, usize)> = (0..3)
        .map(|_| {
            let due = server.next_event();
            server.step(due, &mut issued).expect("it never fails");
            (due.as_ps() / 1_000_000, issued.len())
        })
        .collect();
    assert_eq!(steps, [(0, 0), (10, 2), (20, 4)]);
    assert_eq!(server.next_event(), Time::MAX, "all clients wait for storage");
    assert_eq!(issued.iter().map(|issued| issued.tag).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(issued.iter().all(|issued| issued.request.op == Op::Read && issued.waited.is_zero()));
    server.complete(Time::from_us(33), 2, Status::Done);
    assert_eq!(server.next_event(), Time::from_us(33));
    server.step(Time::from_us(33), &mut issued).expect("it never fails");
    assert_eq!(server.next_event(), Time::from_us(40), "its client thinks");
}

#[test]
fn a_server_that_is_saved_at_any_event_continues_the_same() {
    let new = || {
        let server = Server { clients: 5, think: Time::from_us(3), processors: 2 };
        Clients::new(Simple { asked: 0, work: Time::from_us(10) }, server, Some(200))
    };
    let latency = |request: &nacre_kernel::Request| Time::from_us(7 + request.arrival.as_ps() % 5);
    let all = serve(&mut new(), latency);
    let (mut server, mut host) = (new(), Host::default());
    for _ in 0..150 {
        host.advance(&mut server, latency);
        let mut other = new();
        let bytes = state::saved(&server).expect("it has a state");
        state::restored(&mut other, &bytes).expect("its own state");
        assert_eq!(state::saved(&other).as_ref(), Ok(&bytes));
        server = other;
    }
    while host.advance(&mut server, latency) {}
    assert_eq!(host.issued.iter().map(|issued| issued.request).collect::<Vec<_>>(), all);
}

#[test]
fn a_server_that_only_reads_has_no_writes_to_precondition_with() {
    let server = Server { clients: 2, think: Time::ZERO, processors: 1 };
    let mut server = Clients::new(Simple { asked: 0, work: Time::from_us(10) }, server, Some(12));
    let mut batch = Vec::new();
    server.fill_writes(&mut batch, 5).expect("it never fails");
    assert_eq!(batch, []);
}
