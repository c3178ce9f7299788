//! Compares the waits of tenants in different priority classes with the closed form of non-preemptive
//! priority.

use super::*;
use nacre_kernel::Streams;

/// Number of requests of a tenant, and their total waiting time in seconds.
#[derive(Clone, Copy, Default)]
struct Waited {
    requests: f64,
    seconds: f64,
}

impl Waited {
    fn mean(self) -> f64 {
        self.seconds / self.requests
    }
}

/// Settings of tenants with the arrivals and priorities in `of`. Each tenant has `requests` requests, and the
/// tenants share `places` slots.
fn tenants(places: u32, requests: u64, of: &[(&str, &str)]) -> String {
    let tenant = |(number, (arrival, priority)): (usize, &(&str, &str))| {
        format!(
            "[[workload.tenant]]\nname = \"tenant {number}\"\npriority = \"{priority}\"\n\
             workload = {{ kind = \"uniform\", requests = {requests}, footprint = \"1 MiB\", arrival = {{ {arrival} }} }}\n"
        )
    };
    let tenants: String = of.iter().enumerate().map(tenant).collect();
    format!("kind = \"tenants\"\nplaces = {places}\n{tenants}")
}

/// Returns the waiting times of `count` tenants until one tenant has issued all of its requests. `service`
/// returns the service time for a request of the given tenant.
fn waits(settings: &str, count: usize, mut service: impl FnMut(usize) -> Time) -> Vec<Waited> {
    let mut asked = workload(settings, 1).unwrap();
    let (mut host, mut all) = (Host::default(), vec![Waited::default(); count]);
    let each = asked.expected().unwrap() as f64 / count as f64;
    let mut seen = 0;
    while all.iter().all(|of| of.requests < each) {
        host.advance(asked.interactive().unwrap(), |request| service(request.volume as usize));
        for issued in &host.issued[seen..] {
            let tenant = &mut all[issued.request.volume as usize];
            tenant.requests += 1.0;
            tenant.seconds += issued.waited.as_secs_f64();
        }
        seen = host.issued.len();
    }
    all
}

fn close(what: &str, measured: f64, law: f64, tolerance: f64) {
    assert!((measured / law - 1.0).abs() < tolerance, "{what}: {measured}, by the law {law}");
}

/// Compares the mean wait of each class k with its closed form, R / ((1 - s_(k-1)) (1 - s_k)). Here, s_k is
/// the load of class k and all higher classes. R is half the sum over all classes of the rate times the
/// mean square of the service time (cobham-1954).
#[test]
fn each_class_waits_as_the_law_of_priority_without_preemption_says() {
    let services = [50e-6, 100e-6, 200e-6];
    for load in [0.3, 0.6, 0.85] {
        let loads = [0.2 * load, 0.3 * load, 0.5 * load];
        let rates = [0, 1, 2].map(|class| loads[class] / services[class]);
        let arrivals = rates.map(|rate| format!("kind = \"poisson\", rate = \"{rate} Hz\""));
        let of: Vec<(&str, &str)> = arrivals
            .iter()
            .zip(["urgent", "high", "low"])
            .map(|(arrival, class)| (&arrival[..], class))
            .collect();
        let found =
            waits(&tenants(1, 900_000, &of), 3, |class| Time::from_ns((services[class] * 1e9 + 0.5) as u64));
        let residual: f64 = (0..3).map(|class| loads[class] * services[class] / 2.0).sum();
        let mut before = 0.0;
        for class in 0..3 {
            let with = before + loads[class];
            let law = residual / ((1.0 - before) * (1.0 - with));
            close(&format!("class {class} at load {load}"), found[class].mean(), law, 0.03);
            before = with;
        }
    }
}

#[test]
fn with_several_places_all_together_wait_as_long_as_without_classes() {
    let service = Time::from_us(100);
    // The load of 4 slots is 0.9.
    let of = |high, low| {
        [("kind = \"poisson\", rate = \"9 kHz\"", high), ("kind = \"poisson\", rate = \"27 kHz\"", low)]
    };
    let sum = |settings: &str| {
        let found = waits(settings, 2, |_| service);
        (found[0].seconds + found[1].seconds, found[0].mean(), found[1].mean())
    };
    let (alike, ..) = sum(&tenants(4, 100_000, &of("medium", "medium")));
    let (apart, urgent, low) = sum(&tenants(4, 100_000, &of("urgent", "low")));
    // The last few requests may differ.
    close("all waits", apart, alike, 1e-3);
    assert!(urgent < 0.3 * low, "urgent requests wait {urgent} s, low ones {low} s");
}

#[test]
fn of_one_class_each_tenant_gets_its_turn_however_much_it_asks_for() {
    let of =
        [("kind = \"closed\", queue_depth = 64", "high"), ("kind = \"closed\", queue_depth = 4", "high")];
    let found = waits(&tenants(4, 10_000, &of), 2, |_| Time::from_us(100));
    close("requests done", found[0].requests, found[1].requests, 0.001);
    // A third tenant of lower priority gets no slot while the other tenants have requests.
    let of = [of[0], of[1], ("kind = \"closed\", queue_depth = 4", "medium")];
    let found = waits(&tenants(4, 10_000, &of), 3, |_| Time::from_us(100));
    assert_eq!(found[2].requests, 0.0);
}

#[test]
fn no_more_requests_are_under_way_than_there_are_places() {
    let of =
        [("kind = \"closed\", queue_depth = 9", "low"), ("kind = \"poisson\", rate = \"50 kHz\"", "urgent")];
    let mut asked = workload(&tenants(3, 5_000, &of), 1).unwrap();
    let (mut host, mut random) = (Host::default(), Streams::new(1).stream("services"));
    while host.advance(asked.interactive().unwrap(), |_| Time::from_ns(random.below(100_000))) {
        assert!(host.outstanding() <= 3, "{} are under way", host.outstanding());
    }
    assert_eq!(host.issued.len(), 10_000);
}

#[test]
fn waiting_requests_go_on_from_their_state() {
    let of =
        [("kind = \"closed\", queue_depth = 9", "low"), ("kind = \"poisson\", rate = \"50 kHz\"", "urgent")];
    let settings = tenants(2, 500, &of);
    assert_eq!(continues_from_its_state(&settings), 1_000);
}

#[test]
fn a_class_without_places_is_refused() {
    let refused = problems(&TWO.replace("weight = 3", "priority = \"high\""));
    assert_eq!(
        refused,
        ["workload.tenant[1].priority (test.toml:9): without places, no request waits, so priority has \
             no effect, given high; set places, e.g. to the queue depth of the drive, or remove it"]
    );
}

/// Compares arrival and waiting times with times calculated by hand, for one slot, a closed loop with low
/// priority, and an urgent request every 100 us. A free slot goes to the urgent request only if it has
/// already arrived.
#[test]
fn a_place_goes_to_whoever_waits_when_a_request_completes() {
    let of =
        [("kind = \"closed\", queue_depth = 1", "low"), ("kind = \"periodic\", rate = \"10 kHz\"", "urgent")];
    let mut asked = workload(&tenants(1, 4, &of), 1).unwrap();
    let (mut host, mut latencies) =
        (Host::default(), [30, 5, 50, 40, 10, 30, 200, 1].map(Time::from_us).into_iter());
    while host.advance(asked.interactive().unwrap(), |_| latencies.next().expect("eight requests")) {}
    let us = |time: Time| time.as_ps() / 1_000_000;
    let found: Vec<_> = host
        .issued
        .iter()
        .map(|issued| (issued.request.volume, us(issued.request.arrival), us(issued.waited)))
        .collect();
    let expected = [
        // Both requests arrive at time 0.
        (1, 0, 0),
        (0, 30, 30),
        // The first request completes at 35 us, long before the next arrival.
        (0, 35, 0),
        (0, 85, 0),
        // The arrival at 100 us and the next request of the closed loop wait until 125 us.
        (1, 125, 25),
        (0, 135, 10),
        (1, 200, 0),
        (1, 400, 100),
    ];
    assert_eq!(found, expected);
}
