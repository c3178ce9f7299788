use super::{Clients, Script, Server, Step};
use crate::Workload;
use nacre_kernel::Time;
use nacre_kernel::state::State;

/// Every question is some work and one read.
#[derive(State)]
struct Simple {
    asked: u64,
    #[state(skip = "of the test")]
    work: Time,
}

impl Script for Simple {
    fn next(&mut self, steps: &mut Vec<Step>) {
        self.asked += 1;
        steps.extend([Step::Work(self.work), Step::Read(0, 512)]);
    }

    fn reach(&self) -> u64 {
        512
    }

    fn describe(&self) -> (&'static str, &'static str, String) {
        ("simple", "questions", String::new())
    }
}

/// Questions per second of storage that always takes `storage`.
fn rate(clients: u32, processors: u32, work: Time, storage: Time) -> f64 {
    let server = Server { clients, think: Time::ZERO, processors };
    let mut server = Clients::new(Simple { asked: 0, work }, server, None);
    let (mut batch, mut now, mut count) = (Vec::new(), Time::ZERO, 0);
    while now < Time::from_s(2) {
        batch.clear();
        server.fill(&mut batch, 1).expect("it never ends");
        assert!(batch[0].arrival >= now, "arrivals never decrease");
        (now, count) = (batch[0].arrival, count + 1);
        server.complete(now + storage);
    }
    let units = server.units(count).expect("it has units").done;
    units as f64 / now.as_secs_f64()
}

/// A closed loop: clients over the time of a round, or what the processors take on.
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
