//! Compares rates and latencies with closed forms.

use super::{BARE, ask, count, mirror, of_member, request};
use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Random, Streams, Time};
use nacre_testkit::{assert_close, closed_loop};

fn anywhere(random: &mut Random) -> u64 {
    random.below(256) * 4096
}

#[test]
fn two_members_read_twice_as_fast_as_one() {
    let member =
        "kind = \"measured\", read = \"100 us\", write = \"100 us\", parallelism = 4, capacity = \"1 MiB\"";
    for policy in ["round_robin", "shortest_queue"] {
        let mut random = Streams::new(1).stream("addresses");
        let mut device = mirror(&format!("read_policy = \"{policy}\""), &[member, member]);
        let seen = closed_loop(&mut *device, 16, 20_000, |_| request(Op::Read, anywhere(&mut random), 4096));
        // Each member has eight requests and serves four at a time.
        assert_close(policy, seen.per_second(), 2.0 * 4.0 / 100e-6, 1e-3);
        assert_eq!([0, 1].map(|member| of_member(&*device, member, "reads")), [10_000; 2], "{policy}");
    }
    let mut device = mirror("read_policy = \"first\"", &[member, member]);
    let seen = closed_loop(&mut *device, 16, 20_000, |_| request(Op::Read, 0, 4096));
    assert_close("first", seen.per_second(), 4.0 / 100e-6, 1e-3);
    assert_eq!(of_member(&*device, 1, "reads"), 0);
}

fn exponential(parallelism: u32) -> String {
    let latency = "{ kind = \"exponential\", mean = \"100 us\" }";
    format!(
        "kind = \"measured\", read = {latency}, write = {latency}, parallelism = {parallelism}, capacity = \"1 MiB\""
    )
}

/// A write takes as long as the slowest of n members. If the latencies of the members are exponential with
/// mean m, the mean latency of a write is m (1 + 1/2 + ... + 1/n).
#[test]
fn a_write_takes_as_long_as_its_slowest_member() {
    let member = exponential(64);
    for (members, mean) in [(2, 150e-6), (3, 550e-6 / 3.0)] {
        let mut device = mirror("", &vec![member.as_str(); members]);
        let seen = closed_loop(&mut *device, 1, 100_000, |_| request(Op::Write, 0, 4096));
        assert_close("mean", seen.mean_s(), mean, 0.01);
        assert_eq!(of_member(&*device, members - 1, "writes"), 100_000);
    }
}

/// If X and Y are exponential latencies of mean m, and the second read starts after h, a hedged read takes
/// min(X, h + Y). The probability that it takes longer than t is exp(-t/m) for t up to h, and exp(-(2t -
/// h)/m) for larger t.
#[test]
fn a_hedged_read_takes_the_smaller_of_two_latencies_the_second_of_which_begins_later() {
    let member = exponential(64);
    let (m, h) = (100e-6_f64, 50e-6);
    for policy in ["first", "round_robin"] {
        let settings = format!("read_policy = \"{policy}\"\nhedge_after = \"50 us\"");
        let mut device = mirror(&settings, &[&member, &member]);
        let requests = 200_000;
        let seen = closed_loop(&mut *device, 1, requests, |_| request(Op::Read, 0, 4096));
        let late = libm::exp(-h / m);
        assert_close("mean", seen.mean_s(), m * (1.0 - late / 2.0), 0.01);
        for share in [0.2, 0.5, 0.9, 0.99_f64] {
            let left = 1.0 - share;
            let t = if left > late { -m * libm::log(left) } else { (h - m * libm::log(left)) / 2.0 };
            let found = seen.latency.quantile(share).expect("there are reads").as_secs_f64();
            assert_close(&format!("quantile {share}"), found, t, 0.02);
        }
        assert_close("sent", count(&*device, "hedges_sent") as f64, late * requests as f64, 0.01);
        // Exponential latencies are memoryless. After the hedge, both replies have the same probability of
        // being first.
        assert_close("won", count(&*device, "hedges_won") as f64, late / 2.0 * requests as f64, 0.01);
    }
}

#[test]
fn a_hedge_that_waits_is_canceled() {
    let slow =
        "kind = \"measured\", read = \"100 us\", write = \"30 us\", parallelism = 1, capacity = \"1 MiB\"";
    let settings = "read_policy = \"first\"\nhedge_after = \"40 us\"";
    let mut device = mirror(settings, &[slow, slow]);
    let mut completions = Completions::new();
    let (latency, ..) = ask(&mut *device, Time::from_us(40), request(Op::Read, 0, 4096), Payload::NONE);
    assert_eq!(latency, Time::from_us(100), "the hedge came 60 us before the end and takes 100 us");
    assert_eq!([count(&*device, "hedges_sent"), count(&*device, "hedges_won")], [1, 0]);
    // The read had started, so it is completed and its reply is ignored.
    assert_eq!(device.next_event(), Time::from_us(180));
    super::rest(&mut *device);
    // With two simultaneous reads, the hedge of the second waits for the hedge of the first, and is canceled.
    let slower = slow.replace("100 us", "300 us");
    let mut device = mirror(settings, &[slow, &slower]);
    for number in 0..2 {
        device.submit(Time::ZERO, RequestId(number), &request(Op::Read, 0, 4096), Payload::NONE);
    }
    completions.clear();
    while completions.len() < 2 {
        device.run(Time::MAX, &mut completions);
    }
    let ends: Vec<Time> = completions.iter().map(|of| of.at).collect();
    assert_eq!(ends, [Time::from_us(100), Time::from_us(200)]);
    assert_eq!(device.next_event(), Time::from_us(340), "the hedge of the first");
    device.run(Time::from_ms(1), &mut completions);
    assert_eq!((device.next_event(), count(&*device, "hedges_sent")), (Time::MAX, 2));
    device.check_invariants();
}

#[test]
fn writes_that_overlap_are_done_one_after_the_other() {
    let mut device = mirror("", &[BARE, BARE]);
    let requests = [(0, 20), (4096, 20), (2048, 40), (0, 60), (65536, 20)];
    for (number, (address, _)) in requests.into_iter().enumerate() {
        let request = request(Op::Write, address, 4096);
        device.submit(Time::ZERO, RequestId(number as u32), &request, Payload::NONE);
    }
    let mut completions = Completions::new();
    while completions.len() < requests.len() {
        device.run(Time::MAX, &mut completions);
    }
    for of in completions.iter() {
        assert_eq!(of.at, Time::from_us(requests[of.id.0 as usize].1), "request {}", of.id.0);
    }
    super::rest(&mut *device);
}

#[test]
fn a_mirror_has_the_capacity_of_its_smallest_member_and_the_cost_of_all() {
    let member = |capacity| {
        format!(
            "kind = \"measured\", read = \"10 us\", write = \"20 us\", capacity = \"{capacity}\", price = \"2 /GiB\", \
             read_energy = \"1 uJ\", write_energy = \"3 uJ\""
        )
    };
    let mut device = mirror("read_policy = \"first\"", &[&member("2 MiB"), &member("1 MiB")]);
    assert_eq!(device.capacity().expect("it has one").0, 1 << 20);
    ask(&mut *device, Time::ZERO, request(Op::Write, 0, 4096), Payload::NONE);
    ask(&mut *device, Time::from_ms(1), request(Op::Read, 0, 4096), Payload::NONE);
    let report = device.report(Time::from_ms(2));
    let energy = |member: usize| -> f64 {
        nacre_kernel::Activity::ALL.iter().map(|&of| report.children[member].energy(of).0).sum()
    };
    assert_close("energy of the first", energy(0), 4e-6, 1e-9);
    assert_close("energy of the second", energy(1), 3e-6, 1e-9);
    assert!(report.cost.is_none() && report.children.iter().all(|child| child.cost.is_some()));
}
