use crate::workbench::MODELS;
use nacre_kernel::event::Device;
use nacre_kernel::{Activity, Bytes, Op, Request, Time};
use nacre_testkit::Host;
use nacre_testkit::oracle::{Load, queue};
use nacre_testkit::{Workbench, assert_close};
use nacre_testkit::{closed_loop, visits};
use nacre_testkit::{conformance, durability};

const KIM: &str = "kind = \"network\"\nread = \"919.0 us\"\nwrite = \"133.0 us\"";

fn store(more: &str) -> Box<dyn Device> {
    Workbench::new(MODELS, 1).build(&format!("{KIM}\n{more}")).expect("the test's store is legal")
}

fn request(op: Op, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address: 0, bytes, volume: 0, op }
}

#[test]
fn an_idle_store_takes_its_measured_latency() {
    let mut plain = Host::new(store(""));
    let mut linked = Host::new(store("bandwidth = \"1 GB/s\""));
    for (at, bytes) in [512, 4096, 65536].into_iter().enumerate() {
        let now = Time::from_ms(10 * at as u64);
        let more = Time::from_ns(u64::from(bytes).saturating_sub(4096));
        for (op, measured) in [(Op::Read, Time::from_us(919)), (Op::Write, Time::from_us(133))] {
            let now = now + Time::from_ms(if op == Op::Read { 0 } else { 5 });
            assert_eq!(plain.latency(now, request(op, bytes)), measured, "{bytes} bytes");
            assert_eq!(linked.latency(now, request(op, bytes)), measured + more, "{bytes} bytes over a link");
        }
    }
    assert_eq!(plain.device.capacity(), None);
    assert_eq!(store("capacity = \"1 TiB\"").capacity(), Some(Bytes(1 << 40)));
}

#[test]
fn a_closed_loop_gets_depth_over_latency_up_to_the_parallelism() {
    for (depth, busy) in [(1, 1.0), (8, 8.0), (16, 16.0), (64, 16.0)] {
        let mut store = store("parallelism = 16");
        let seen = closed_loop(&mut *store, depth, 20_000, |_| request(Op::Read, 4096));
        assert_close("requests per second", seen.per_second(), busy / 919e-6, 0.005);
        store.check_invariants();
    }
}

#[test]
fn a_saturated_link_carries_its_bandwidth() {
    for op in [Op::Read, Op::Write] {
        let mut store = store("bandwidth = \"100 MB/s\"");
        let seen = closed_loop(&mut *store, 200, 20_000, |_| request(op, 65536));
        assert_close("bytes per second", seen.per_second() * 65536.0, 100e6, 0.005);
        let busy = store.report(seen.end).busy_s(Activity::Link);
        assert_close("share of time the link is busy", busy / seen.end.as_secs_f64(), 1.0, 0.005);
    }
}

#[test]
fn trims_and_flushes_carry_no_data() {
    let mut store = Host::new(store("bandwidth = \"1 MB/s\""));
    assert_eq!(store.latency(Time::ZERO, request(Op::Trim, 1 << 30)), Time::from_us(133));
    assert_eq!(store.latency(Time::from_ms(1), request(Op::Flush, 0)), Time::from_us(133));
}

#[test]
fn errors_in_both_latencies_are_reported_together() {
    let toml = "kind = \"network\"\nread = \"fast\"\nparallelism = 0\n";
    let problems = Workbench::new(MODELS, 1).build(toml).err().expect("four errors").to_string();
    for path in ["device.read", "device.write", "device.parallelism"] {
        assert!(problems.contains(path), "{path} is missing in:\n{problems}");
    }
}

fn requests(count: usize) -> Vec<Request> {
    let op = |index: usize| if index.is_multiple_of(3) { Op::Write } else { Op::Read };
    (0..count).map(|index| request(op(index), 4096)).collect()
}

#[test]
fn every_request_completes_when_a_queue_before_the_far_side_says() {
    let requests = requests(5_000);
    let service = |request: &Request| Time::from_us(if request.op == Op::Read { 919 } else { 133 });
    let services: Vec<Time> = requests.iter().map(service).collect();
    for (servers, clients) in [(1, 4), (8, 8), (8, 100), (256, 64)] {
        let load = Load::Closed { clients };
        let seen = visits(&mut *store(&format!("parallelism = {servers}")), &requests, load);
        assert!(seen == queue::first_come(servers, &services, load), "{servers} servers, {clients} clients");
    }
}

#[test]
fn it_keeps_the_contract_and_acknowledged_data() {
    for more in [
        "parallelism = 2",
        "parallelism = 3\nhedge_after = \"1 ms\"",
        "parallelism = 2\nhedge_after = \"400 us\"\nbandwidth = \"20 MB/s\"",
        "parallelism = 8\nbandwidth = \"20 MB/s\"\nunit = \"8 KiB\"",
    ] {
        let toml = format!("{KIM}\ncapacity = \"64 MiB\"\n{more}");
        for pause in [Time::from_us(200), Time::from_ms(2)] {
            let build = || Workbench::new(MODELS, 1).build(&toml).expect("it is legal");
            let with_bytes = || Workbench::new(MODELS, 1).with_bytes().build(&toml).expect("it is legal");
            conformance(pause, build);
            conformance(pause, with_bytes);
            durability(pause, with_bytes);
        }
    }
}

/// A hedged read takes the smaller of two independent exponential latencies of 200 us, one of which starts
/// 150 us later. The probability that it takes more than t is exp(-t / 200 us) for t up to 150 us. For larger
/// t, this probability is multiplied by exp(-(t - 150 us) / 200 us).
#[test]
fn hedged_reads_take_the_minimum_of_two_latencies() {
    const READS: u64 = 100_000;
    let toml = "kind = \"network\"\nread = { kind = \"exponential\", mean = \"200 us\" }\nwrite = \"1 us\"\n\
        hedge_after = \"150 us\"\n";
    let mut store = Host::new(Workbench::new(MODELS, 1).build(toml).expect("it is legal"));
    let mut latencies: Vec<f64> = (0..READS)
        .map(|read| store.latency(Time::from_ms(10 * read), request(Op::Read, 4096)).as_secs_f64() * 1e6)
        .collect();
    latencies.sort_unstable_by(f64::total_cmp);
    let quantile = |share: f64| latencies[(share * READS as f64) as usize];
    assert_close("p50", quantile(0.5), 200.0 * libm::log(2.0), 0.02);
    assert_close("p90", quantile(0.9), (libm::log(10.0) + 0.75) / 0.01, 0.02);
    assert_close("p99", quantile(0.99), (libm::log(100.0) + 0.75) / 0.01, 0.03);
    let [sent, won] = ["hedges_sent", "hedges_won"].map(|name| store.count(name) as f64);
    assert_close("hedges", sent / READS as f64, libm::exp(-0.75), 0.02);
    assert_close("won", won / sent, 0.5, 0.02);
}

/// If the remote side has one server, the hedge of a read is still queued when the read completes, and is
/// canceled.
#[test]
fn a_hedge_that_waits_is_canceled() {
    let mut store = Host::new(store("parallelism = 1\nhedge_after = \"100 us\""));
    // The hedge of the first read waits for the second read.
    let first = store.submit(Time::ZERO, request(Op::Read, 4096));
    let second = store.submit(Time::from_us(50), request(Op::Read, 4096));
    assert_eq!(store.wait(first).latency, Time::from_us(919));
    assert_eq!(store.wait(second).latency, Time::from_us(2 * 919 - 50));
    store.rest();
    assert_eq!(["hedges_sent", "hedges_won", "reads_canceled"].map(|name| store.count(name)), [2, 0, 1]);
}
