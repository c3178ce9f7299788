//! Compares the device with queue simulations, request by request, and with closed forms.

use crate::workbench::workbench;
use nacre_kernel::event::{Canceled, Completions, Device, Payload, RequestId};
use nacre_kernel::{Activity, Op, Request, Status, Streams, Time};
use nacre_testkit::oracle::queue::first_come;
use nacre_testkit::oracle::{Load, Summary};
use nacre_testkit::queueing::{md1_wait, mmc_wait};
use nacre_testkit::{assert_close, conformance, visits};

fn device(toml: &str) -> Box<dyn Device> {
    workbench(1).build(&format!("kind = \"measured\"\n{toml}")).expect("the test's device is legal")
}

fn request(op: Op, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address: 0, bytes, volume: 0, op }
}

/// Latencies that the device samples if it serves one request at a time on one server.
fn drawn(toml: &str, requests: &[Request]) -> Vec<Time> {
    let seen = visits(&mut *device(toml), requests, Load::Closed { clients: 1 });
    seen.iter().map(|visit| visit.latency()).collect()
}

#[test]
fn every_request_completes_when_a_queue_of_its_latencies_says() {
    let latencies =
        "read = { kind = \"lognormal\", mean = \"80 us\", deviation = \"40 us\" }\nwrite = \"120 us\"\n";
    let mut random = Streams::new(5).stream("requests");
    let mixed: Vec<Request> =
        (0..20_000).map(|_| request(if random.chance(0.7) { Op::Read } else { Op::Write }, 4096)).collect();
    let services = drawn(latencies, &mixed);
    let mut now = Time::ZERO;
    for servers in [1, 4, 32] {
        let toml = format!("{latencies}parallelism = {servers}");
        for clients in [1, 2, 8, 64] {
            let load = Load::Closed { clients };
            let right = first_come(servers, &services, load);
            assert!(
                visits(&mut *device(&toml), &mixed, load) == right,
                "{clients} clients, {servers} servers"
            );
        }
        let rate = 0.8 * servers as f64 / 92e-6;
        let arrivals: Vec<Time> = mixed
            .iter()
            .map(|_| {
                now += Time::from_secs_f64(random.exponential() / rate);
                now
            })
            .collect();
        let load = Load::Open(&arrivals);
        assert!(visits(&mut *device(&toml), &mixed, load) == first_come(servers, &services, load));
    }
}

/// With Poisson arrivals, mean latencies equal the closed forms of M/D/1 and M/M/c within 2 %.
#[test]
fn poisson_arrivals_wait_as_closed_forms_say() {
    let mut random = Streams::new(6).stream("arrivals");
    let mut mean = |toml: &str, rate: f64| {
        let reads = vec![request(Op::Read, 4096); 400_000];
        let mut now = Time::ZERO;
        let arrivals: Vec<Time> = reads
            .iter()
            .map(|_| {
                now += Time::from_secs_f64(random.exponential() / rate);
                now
            })
            .collect();
        Summary::of(&visits(&mut *device(toml), &reads, Load::Open(&arrivals))).mean_s
    };
    let (service, rate) = (100e-6, 7_000.0);
    let found = mean("read = \"100 us\"\nwrite = \"1 us\"", rate);
    assert_close("M/D/1", found, service + md1_wait(rate, service), 0.02);
    let exponential =
        "read = { kind = \"exponential\", mean = \"100 us\" }\nwrite = \"1 us\"\nparallelism = 4";
    let found = mean(exponential, 4.0 * rate);
    assert_close("M/M/4", found, service + mmc_wait(4, 4.0 * rate, service), 0.02);
}

#[test]
fn a_shared_link_delays_only_while_it_is_busy() {
    let toml = "read = \"10 us\"\nwrite = \"10 us\"\nparallelism = 8\nbandwidth = \"4096 MB/s\"";
    for op in [Op::Read, Op::Write] {
        let seen = visits(&mut *device(toml), &[request(op, 4096); 4], Load::Closed { clients: 4 });
        let latencies: Vec<Time> = seen.iter().map(|visit| visit.latency()).collect();
        // The first transfer is included in the latency. Each of the others takes one microsecond of link
        // time.
        assert_eq!(latencies, [10, 11, 12, 13].map(Time::from_us), "{op:?}");
    }
    let toml = "read = \"10 us\"\nwrite = \"10 us\"\nparallelism = 32\nbandwidth = \"1 GB/s\"";
    for op in [Op::Read, Op::Write] {
        let seen = visits(&mut *device(toml), &vec![request(op, 4096); 20_000], Load::Closed { clients: 64 });
        assert_close("bytes per second", Summary::of(&seen).per_second * 4096.0, 1e9, 0.01);
    }
}

#[test]
fn a_flush_waits_for_earlier_writes_and_not_for_later_ones() {
    let mut ssd =
        device("read = \"1 us\"\nwrite = \"10 us\"\nflush = \"3 us\"\ntrim = \"2 us\"\nparallelism = 2");
    let mut completions = Completions::new();
    let at = Time::from_us;
    ssd.submit(at(0), RequestId(1), &request(Op::Write, 4096), Payload::NONE);
    ssd.run(at(4), &mut completions);
    ssd.submit(at(4), RequestId(2), &request(Op::Flush, 0), Payload::NONE);
    ssd.submit(at(4), RequestId(3), &request(Op::Write, 4096), Payload::NONE);
    ssd.submit(at(4), RequestId(4), &request(Op::Trim, 4096), Payload::NONE);
    while ssd.next_event() < Time::MAX {
        ssd.run(Time::MAX, &mut completions);
    }
    let seen: Vec<_> = completions.iter().map(|completed| (completed.id.0, completed.at)).collect();
    assert_eq!(seen, [(4, at(6)), (1, at(10)), (2, at(13)), (3, at(14))]);
    let (flush, spans) = completions.get(2);
    assert_eq!((flush.status, spans.len()), (Status::Done, 2));
    assert_eq!((spans[0].activity, spans[0].time), (Activity::Queue, at(6)));
}

#[test]
fn a_request_that_waits_can_be_canceled_and_one_in_service_cannot() {
    let mut ssd = device("read = \"10 us\"\nwrite = \"10 us\"");
    let mut completions = Completions::new();
    for id in 0..3 {
        ssd.submit(Time::ZERO, RequestId(id), &request(Op::Write, 4096), Payload::NONE);
    }
    ssd.submit(Time::ZERO, RequestId(3), &request(Op::Flush, 0), Payload::NONE);
    ssd.run(Time::from_us(5), &mut completions);
    assert_eq!(ssd.cancel(Time::from_us(5), RequestId(0)), Canceled::TooLate);
    assert_eq!(ssd.cancel(Time::from_us(5), RequestId(1)), Canceled::Yes);
    assert_eq!(ssd.cancel(Time::from_us(5), RequestId(1)), Canceled::TooLate, "it is gone");
    while ssd.next_event() < Time::MAX {
        ssd.run(Time::MAX, &mut completions);
    }
    let seen: Vec<_> = completions.iter().map(|completed| (completed.id.0, completed.at)).collect();
    let at = Time::from_us;
    assert_eq!(seen, [(0, at(10)), (2, at(20)), (3, at(20))], "the flush does not wait for it either");
    assert_eq!(ssd.report(at(20)).busy_s(Activity::Write), 20e-6);
    ssd.check_invariants();
}

#[test]
fn it_keeps_the_contract() {
    for options in [
        "parallelism = 1",
        "parallelism = 4\nflush = \"3 us\"",
        "parallelism = 3\nbandwidth = \"1 GB/s\"\nunit = \"16 KiB\"",
        "parallelism = 8\nread_energy = \"1 uJ\"\nwrite_energy = \"2 uJ\"\nidle_power = \"1 W\"",
    ] {
        let toml = format!(
            "kind = \"measured\"\ncapacity = \"1 GiB\"\nwrite = \"80 us\"\n\
             read = {{ kind = \"exponential\", mean = \"30 us\" }}\n{options}"
        );
        for pause in [Time::from_us(20), Time::from_us(300)] {
            conformance(pause, || workbench(1).build(&toml).expect("it is legal"));
            conformance(pause, || workbench(1).with_bytes().build(&toml).expect("it is legal"));
        }
    }
}
