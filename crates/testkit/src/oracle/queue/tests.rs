use super::super::Summary;
use super::super::statistics::{assert_mean, settled_mean};
use super::*;
use crate::drive::poisson;
use crate::queueing::{md1_wait, mm1_wait, mmc_wait, priority_waits};
use nacre_kernel::Random;

/// Number of requests per run. At load r, the mean wait of n consecutive requests of M/M/1 has the variance
/// r (2 + 5 r - 4 r^2 + r^3) / (1 - r)^4 / n, in squares of the mean service time (Daley 1968). The mean of
/// 20 runs is therefore accurate to 0.9 % at a load of 0.8. The assertions allow four standard errors.
const COUNT: usize = 80_000;
const SERVICE_S: f64 = 1e-3;

fn ms(times: &[u64]) -> Vec<Time> {
    times.iter().copied().map(Time::from_ms).collect()
}

fn done_ms(visits: &[Visit]) -> Vec<u64> {
    visits.iter().map(|visit| visit.done.as_ps() / Time::from_ms(1).as_ps()).collect()
}

fn fixed(count: usize) -> Vec<Time> {
    vec![Time::from_secs_f64(SERVICE_S); count]
}

fn exponential(random: &mut Random, count: usize) -> Vec<Time> {
    (0..count).map(|_| Time::from_secs_f64(SERVICE_S * random.exponential())).collect()
}

fn arrivals(random: &mut Random, rate: f64) -> Vec<Time> {
    let other = random.clone();
    // This advances `random` past the numbers of the arrival times, because the service times are generated
    // next.
    (0..COUNT).for_each(|_| _ = random.exponential());
    poisson(other, rate).take(COUNT).collect()
}

fn mean_wait(visits: &[Visit], services: &[Time]) -> f64 {
    let waits = visits.iter().zip(services).map(|(visit, &service)| visit.latency() - service);
    settled_mean(&waits.map(|wait| wait.as_secs_f64()).collect::<Vec<_>>())
}

#[test]
fn two_servers_by_hand() {
    // The first request is served until 5, the second until 2, and the third from 2 to 4. The fourth arrives
    // when a server is free. The fifth and sixth wait for one of the two servers.
    let (times, services) = (ms(&[0, 0, 1, 10, 10, 10]), ms(&[5, 2, 2, 3, 1, 4]));
    assert_eq!(done_ms(&first_come(2, &services, Load::Open(&times))), [5, 2, 4, 13, 11, 15]);
    // The first of the two clients to complete sends the next request.
    assert_eq!(done_ms(&first_come(2, &services, Load::Closed { clients: 2 })), [5, 2, 4, 7, 6, 10]);
    // With three clients on two servers, the third request waits from time 0.
    let visits = first_come(2, &services, Load::Closed { clients: 3 });
    assert_eq!(done_ms(&visits), [5, 2, 4, 7, 6, 10]);
    let arrived: Vec<Time> = visits.iter().map(|visit| visit.arrived).collect();
    assert_eq!(arrived, ms(&[0, 0, 0, 2, 4, 5]));
}

#[test]
fn priorities_by_hand() {
    // The first request is not interrupted. The next request is the oldest of class 0 that arrived at 10 or
    // earlier.
    let times = ms(&[0, 1, 2, 10, 30]);
    let visits = by_priority(&[1, 1, 0, 0, 1], &ms(&[10, 5, 4, 3, 2]), Load::Open(&times));
    assert_eq!(done_ms(&visits), [10, 22, 14, 17, 32]);
    let visits = by_priority(&[1, 1, 0, 0, 1], &ms(&[10, 5, 4, 3, 2]), Load::Closed { clients: 2 });
    assert_eq!(done_ms(&visits), [10, 22, 14, 17, 24]);
}

#[test]
fn fetches_by_hand() {
    // The classes of the queues are high with two requests per round, low with one request, and urgent. All
    // requests arrive at 0.
    let fetching = Fetching { classes: &[1, 3, 0], weights: [2, 1, 1] };
    let queues = [0, 0, 0, 1, 1, 2];
    let (times, services) = (ms(&[0; 6]), ms(&[1; 6]));
    let done = done_ms(&weighted(1, fetching, &queues, &services, Load::Open(&times)));
    // The order is urgent; high, high; low; high, which loses the rest of its round; low.
    assert_eq!(done, [2, 3, 5, 4, 6, 1]);
    // Two queues of one class alternate, regardless of the number of requests in the first queue.
    let fetching = Fetching { classes: &[2, 2], weights: [1, 1, 1] };
    let done = done_ms(&weighted(1, fetching, &[0, 0, 0, 0, 1, 1], &services, Load::Open(&times)));
    assert_eq!(done, [1, 3, 5, 6, 2, 4]);
    let done = done_ms(&weighted(2, fetching, &[0, 0, 0, 0, 1, 1], &services, Load::Open(&times)));
    assert_eq!(done, [1, 2, 3, 3, 1, 2]);
}

/// Compares weighted round robin with the simulation of two priority classes. With only urgent and low
/// queues, both simulations must serve requests in the same order.
#[test]
fn fetches_of_two_classes_are_those_of_priorities() {
    let mut random = nacre_kernel::Streams::new(4).stream("classes");
    let services = exponential(&mut random, 5_000);
    let queues: Vec<usize> = (0..5_000).map(|_| usize::from(random.chance(0.6))).collect();
    let classes: Vec<u8> = queues.iter().map(|&queue| queue as u8).collect();
    let times: Vec<Time> = poisson(random, 0.9 / SERVICE_S).take(5_000).collect();
    let fetching = Fetching { classes: &[0, 3], weights: [1, 1, 1] };
    for load in [Load::Open(&times), Load::Closed { clients: 9 }] {
        let found = weighted(1, fetching, &queues, &services, load);
        assert!(found == by_priority(&classes, &services, load));
    }
}

#[test]
fn waits_of_one_server_meet_pollaczek_and_khinchine() {
    for (load, tolerance) in [(0.5, 0.02), (0.8, 0.05)] {
        let rate = load / SERVICE_S;
        assert_mean("queue M/D/1", md1_wait(rate, SERVICE_S), tolerance, |random| {
            let (times, services) = (arrivals(random, rate), fixed(COUNT));
            mean_wait(&first_come(1, &services, Load::Open(&times)), &services)
        });
        assert_mean("queue M/M/1", mm1_wait(rate, SERVICE_S), 2.0 * tolerance, |random| {
            let (times, services) = (arrivals(random, rate), exponential(random, COUNT));
            mean_wait(&first_come(1, &services, Load::Open(&times)), &services)
        });
    }
}

#[test]
fn waits_of_several_servers_meet_erlang() {
    for servers in [2, 8] {
        let rate = 0.8 * f64::from(servers) / SERVICE_S;
        assert_mean("queue M/M/c", mmc_wait(servers, rate, SERVICE_S), 0.08, |random| {
            let (times, services) = (arrivals(random, rate), exponential(random, COUNT));
            mean_wait(&first_come(servers as usize, &services, Load::Open(&times)), &services)
        });
    }
}

#[test]
fn arrivals_find_as_many_inside_as_little_has_it() {
    // Poisson arrivals see time averages: on average, an arrival finds rate x mean latency requests, as in
    // M/M/2.
    let rate = 1.4 / SERVICE_S;
    let latency = SERVICE_S + mmc_wait(2, rate, SERVICE_S);
    assert_mean("queue Little", rate * latency, 0.05, |random| {
        let (times, services) = (arrivals(random, rate), exponential(random, COUNT));
        let visits = first_come(2, &services, Load::Open(&times));
        let mut done: Vec<Time> = visits.iter().map(|visit| visit.done).collect();
        done.sort_unstable();
        let inside = times.iter().enumerate();
        let found: Vec<f64> = inside
            .map(|(before, &arrival)| (before - done.partition_point(|&done| done <= arrival)) as f64)
            .collect();
        settled_mean(&found)
    });
}

#[test]
fn waits_by_priority_meet_cobham() {
    // The service times are fixed at 1 and 2 ms, with loads of 0.3 and 0.5.
    let (rates, services_s) = ([300.0, 250.0], [1e-3, 2e-3]);
    let expected = priority_waits(rates, services_s);
    for class in [0, 1] {
        assert_mean("queue priorities", expected[usize::from(class)], 0.08, |random| {
            let times = arrivals(random, rates[0] + rates[1]);
            let classes: Vec<u8> =
                (0..COUNT).map(|_| u8::from(random.chance(rates[1] / (rates[0] + rates[1])))).collect();
            let services: Vec<Time> =
                classes.iter().map(|&class| Time::from_secs_f64(services_s[usize::from(class)])).collect();
            let visits = by_priority(&classes, &services, Load::Open(&times));
            let of_class = |&request: &usize| classes[request] == class;
            let (visits, services): (Vec<_>, Vec<_>) =
                (0..COUNT).filter(of_class).map(|request| (visits[request], services[request])).unzip();
            mean_wait(&visits, &services)
        });
    }
}

#[test]
fn a_closed_loop_keeps_as_many_servers_busy_as_it_has_clients() {
    for (servers, clients, busy) in [(1, 1, 1), (1, 8, 1), (4, 2, 2), (4, 4, 4), (4, 64, 4)] {
        let visits = first_come(servers, &fixed(960), Load::Closed { clients });
        let summary = Summary::of(&visits);
        assert!((summary.per_second * SERVICE_S - f64::from(busy)).abs() < 1e-9, "{servers} {clients}");
        let latency = Time::from_ms(clients.div_ceil(servers) as u64);
        assert_eq!(visits[500].latency(), latency, "{clients} clients take turns at {servers} servers");
    }
    // With exponential service, a latency is the sum of eight service times, whose variance is 8 ms^2.
    assert_mean("queue closed variance", 8.0, 0.06, |random| {
        let visits = first_come(1, &exponential(random, COUNT), Load::Closed { clients: 8 });
        let off_ms = |visit: &Visit| visit.latency().as_secs_f64() * 1e3 - 8.0;
        settled_mean(&visits.iter().map(|visit| off_ms(visit) * off_ms(visit)).collect::<Vec<_>>())
    });
}
