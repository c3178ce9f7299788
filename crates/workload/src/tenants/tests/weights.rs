//! Tests of weighted priority classes: weighted round robin with an urgent class.

use super::*;
use nacre_kernel::Streams;

const CLASSES: [&str; 4] = ["urgent", "high", "medium", "low"];

/// Settings of tenants with the arrivals and classes in `of`. The tenants share `places` slots. `weights` has
/// the weights of the three lower classes.
fn tenants(places: u32, weights: [u32; 3], requests: u64, of: &[(&str, &str)]) -> String {
    let tenant = |(number, (arrival, class)): (usize, &(&str, &str))| {
        format!(
            "[[workload.tenant]]\nname = \"tenant {number}\"\npriority = \"{class}\"\n\
             workload = {{ kind = \"uniform\", requests = {requests}, footprint = \"1 MiB\", arrival = {{ {arrival} }} }}\n"
        )
    };
    let tenants: String = of.iter().enumerate().map(tenant).collect();
    let [high, medium, low] = weights;
    format!(
        "kind = \"tenants\"\nplaces = {places}\nweights = {{ high = {high}, medium = {medium}, low = {low} }}\n{tenants}"
    )
}

/// Returns the tenants of the first `count` issued requests.
fn issued(settings: &str, count: usize, mut service: impl FnMut() -> Time) -> Vec<u32> {
    let mut asked = workload(settings, 1).unwrap();
    let mut host = Host::default();
    while host.issued.len() < count {
        assert!(host.advance(asked.interactive().unwrap(), |_| service()), "no more requests");
    }
    host.issued[..count].iter().map(|issued| issued.request.volume).collect()
}

const CLOSED: &str = "kind = \"closed\", queue_depth = 16";

/// Tests that classes with waiting requests at all times are served in proportion to their weights in every
/// round. Two tenants of one class share its slots.
#[test]
fn classes_that_always_ask_get_their_weights() {
    let of = [(CLOSED, "low"), (CLOSED, "high"), (CLOSED, "medium"), (CLOSED, "medium")];
    for places in [1, 4] {
        for weights in [[1, 1, 1], [5, 3, 1], [2, 7, 4], [256, 2, 1]] {
            let round = weights.iter().sum::<u32>() as usize;
            let settings = tenants(places, weights, 4_000, &of);
            let found = issued(&settings, 10 * round, || Time::from_us(50));
            for round in found[places as usize..].chunks_exact(round) {
                let of = |tenant: u32| round.iter().filter(|&&of| of == tenant).count() as u32;
                let [high, medium, low] = weights;
                assert_eq!(
                    [of(1), of(2) + of(3), of(0)],
                    [high, medium, low],
                    "{places} places, {weights:?}"
                );
                assert!(of(2).abs_diff(of(3)) <= 1, "tenants of one class");
            }
        }
    }
}

/// Reference implementation. A round is a list in which each class has as many entries as its weight. The
/// next entry whose class has a waiting request is served. Entries before it are skipped.
struct Turns {
    entries: Vec<usize>,
    at: usize,
}

impl Turns {
    fn choose(&mut self, waits: impl Fn(usize) -> bool) -> usize {
        loop {
            let class = self.entries[self.at];
            if waits(class) {
                self.at = (self.at + 1) % self.entries.len();
                return class;
            }
            // The class loses the remaining slots of its weight.
            while self.entries[self.at] == class {
                self.at = (self.at + 1) % self.entries.len();
            }
        }
    }
}

/// Compares the order in which requests get slots with the order of the reference implementation [`Turns`],
/// for one slot and known arrivals.
#[test]
fn every_choice_is_that_of_turns_written_out() {
    let weights = [3, 2, 1];
    let classes = [0, 1, 2, 3];
    for load in [0.5, 0.9, 1.3] {
        let rate = format!("kind = \"poisson\", rate = \"{} Hz\"", load / 4.0 * 10_000.0);
        let of = classes.map(|class| (&rate[..], CLASSES[class]));
        let settings = tenants(1, weights, 2_000, &of);
        // Arrival times of each tenant without waits.
        let mut free = workload(&settings.replace("places = 1", "places = 1000000"), 1).unwrap();
        let mut host = Host::default();
        while host.advance(free.interactive().unwrap(), |_| Time::from_ps(1)) {}
        let arrivals: Vec<(Time, usize)> = host
            .issued
            .iter()
            .map(|issued| (issued.request.arrival, issued.request.volume as usize))
            .collect();
        let mut services = Streams::new(3).stream("services");
        let services: Vec<Time> =
            arrivals.iter().map(|_| Time::from_ns(20_000 + services.below(160_000))).collect();

        let entries = (1..4).flat_map(|class| vec![class; weights[class - 1] as usize]).collect();
        let mut turns = Turns { entries, at: 0 };
        let (mut waiting, mut expected) = ([0usize; 4], Vec::new());
        let (mut now, mut next) = (Time::ZERO, 0);
        while expected.len() < arrivals.len() {
            if waiting == [0; 4] {
                now = now.max(arrivals[next].0);
            }
            while next < arrivals.len() && arrivals[next].0 <= now {
                waiting[arrivals[next].1] += 1;
                next += 1;
            }
            let class = if waiting[0] > 0 { 0 } else { turns.choose(|class| waiting[class] > 0) };
            waiting[class] -= 1;
            now += services[expected.len()];
            expected.push(class as u32);
        }
        let mut left = services.iter().copied();
        let found = issued(&settings, arrivals.len(), || left.next().expect("as many as requests"));
        assert!(found == expected, "load {load}");
    }
}

#[test]
fn weights_go_on_from_their_state() {
    let of = [(CLOSED, "low"), ("kind = \"poisson\", rate = \"20 kHz\"", "high"), (CLOSED, "medium")];
    let settings = tenants(2, [4, 2, 1], 500, &of);
    continues_from_its_state(&settings);
}

#[test]
fn weights_without_places_are_refused() {
    let settings = tenants(1, [1, 1, 1], 10, &[(CLOSED, "medium")]).replace("places = 1\n", "");
    let refused = problems(&settings);
    assert!(refused.len() == 1 && refused[0].contains("workload.weights"), "{refused:?}");
    assert!(
        refused[0].contains("without places, no request waits, so weights have no effect"),
        "{refused:?}"
    );
}
