mod deadline;
mod oracle;
mod zones;

use super::{Host, HostConfig, HostScheduler, Timeout};
use crate::stack::build_alone;
use crate::{Checked, Document, Files, Record, check, run};
use nacre_kernel::event::{Completions, Device, Payload, RequestId, Zones};
use nacre_kernel::state::State;
use nacre_kernel::{
    Bytes, Capabilities, ComponentId, ComponentReport, Op, Random, Recovery, Request, Streams, Time,
};
use nacre_testkit::drive::poisson;
use nacre_testkit::oracle::{Load, Visit, queue};
use nacre_testkit::{conformance, visits};
use oracle::Policy;
use std::io::{self, BufRead};
use std::ops::ControlFlow;

struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A host and its device combined as one device, for the device test suites.
#[derive(State)]
struct Hosted {
    host: Host,
    device: Box<dyn Device>,
}

impl Device for Hosted {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, _data: Payload) {
        self.host.submit(&mut *self.device, now, id, request);
    }

    fn next_event(&self) -> Time {
        self.host.next_event(&*self.device)
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        self.host.run(&mut *self.device, until, completions);
    }

    fn zones(&self) -> Option<&dyn Zones> {
        self.device.zones()
    }

    fn capacity(&self) -> Option<Bytes> {
        self.device.capacity()
    }

    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn restart_ledger(&mut self, now: Time) {
        self.host.restart_ledger();
        self.device.restart_ledger(now);
    }

    fn report(&self, elapsed: Time) -> ComponentReport {
        ComponentReport { children: vec![self.device.report(elapsed)], ..self.host.report() }
    }

    fn check_invariants(&self) {
        self.host.check_invariants();
        self.device.check_invariants();
    }

    fn power_fail(&mut self, at: Time, chance: &mut Random) {
        self.device.power_fail(at, chance);
        self.host = Host::new(self.host.id, self.host.config.clone(), 1);
    }

    fn recover(&mut self, at: Time) -> Recovery {
        self.device.recover(at)
    }
}

const SERVICE: Time = Time::from_us(100);

fn hosted(timeout: Option<&Policy>, queue_depth: Option<u32>, stack: &str) -> Hosted {
    let timeout = timeout.map(|policy| Timeout {
        after: policy.after,
        retries: policy.retries,
        backoff: policy.backoff,
    });
    over(HostConfig { timeout, queue_depth, scheduler: HostScheduler::FirstCome, zone_writes: None }, stack)
}

/// Creates a host with this configuration over a stack.
fn over(config: HostConfig, stack: &str) -> Hosted {
    let device = build_alone(&checked(stack), &NoFiles);
    let host = Host::new(ComponentId(200), config, 1);
    Hosted { host, device: device.unwrap_or_else(|why| panic!("{why}")) }
}

fn checked(stack: &str) -> Checked {
    let text =
        format!("[workload]\nkind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\n[stack]\n{stack}");
    let checked = check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None });
    checked.unwrap_or_else(|why| panic!("{why}"))
}

fn measured(servers: u32) -> String {
    format!(
        "kind = \"measured\"\nread = \"100 us\"\nwrite = \"100 us\"\nparallelism = {servers}\ncapacity = \"1 MiB\"\n"
    )
}

fn reads(count: usize) -> Vec<Request> {
    vec![Request { bytes: 4096, op: Op::Read, ..Request::default() }; count]
}

fn count(device: &Hosted, name: &str) -> u64 {
    let report = device.host.report();
    report.counters.into_iter().find(|counter| counter.0 == name).expect("it counts that").1
}

#[test]
fn a_device_faster_than_the_timeout_never_times_out_and_a_slower_one_always_does() {
    let fast = Policy { after: Time::from_us(101), retries: 2, backoff: Time::from_us(10) };
    let mut device = hosted(Some(&fast), None, &measured(1));
    let seen = visits(&mut device, &reads(100), Load::Closed { clients: 1 });
    assert!(seen.iter().all(|visit| visit.latency() == SERVICE));
    assert_eq!(["timeouts", "retries", "failed"].map(|name| count(&device, name)), [0, 0, 0]);

    // Three tries of 30 us with two pauses of 10 us.
    let slow = Policy { after: Time::from_us(30), ..fast };
    let mut device = hosted(Some(&slow), None, &measured(1));
    let seen = visits(&mut device, &reads(100), Load::Closed { clients: 1 });
    assert!(seen.iter().all(|visit| visit.latency() == Time::from_us(110)), "{:?}", seen[7]);
    assert_eq!(["timeouts", "retries", "failed"].map(|name| count(&device, name)), [300, 200, 100]);
    // A completion at the instant of the timeout is too late.
    let mut device = hosted(Some(&Policy { after: SERVICE, ..fast }), None, &measured(1));
    let _ = visits(&mut device, &reads(1), Load::Closed { clients: 1 });
    assert_eq!(count(&device, "failed"), 1);
}

/// Compares completion times under load with those of an independent simulation. The times are equal even
/// if retries overload the server.
#[test]
fn completion_times_equal_those_of_a_naive_simulation() {
    let requests = reads(20_000);
    let policies = [
        Policy { after: Time::from_us(333), retries: 2, backoff: Time::from_us(70) },
        Policy { after: Time::from_us(333), retries: 0, backoff: Time::ZERO },
        Policy { after: Time::from_us(1_234), retries: 5, backoff: Time::ZERO },
        Policy { after: Time::from_us(77), retries: 3, backoff: Time::from_us(1) },
    ];
    for policy in &policies {
        for load in [0.5, 0.8, 0.95, 1.3] {
            let random = Streams::new(5).stream("arrivals");
            let arrivals: Vec<Time> =
                poisson(random, load / SERVICE.as_secs_f64()).take(requests.len()).collect();
            let mut device = hosted(Some(policy), None, &measured(1));
            let seen = visits(&mut device, &requests, Load::Open(&arrivals));
            let expected = oracle::one_server(&arrivals, SERVICE, policy);
            let differs = (0..seen.len()).find(|&at| seen[at] != expected.visits[at]);
            assert_eq!(differs.map(|at| (at, seen[at], expected.visits[at])), None, "{policy:?} {load}");
            assert_eq!(["timeouts", "failed"].map(|name| count(&device, name)), expected.counts());
            assert!(load < 0.8 || count(&device, "timeouts") > 0, "{policy:?} {load}");
            device.check_invariants();
        }
    }
}

#[test]
fn a_queue_depth_is_as_many_servers_as_the_device_has_if_it_has_more() {
    let requests = reads(5_000);
    let services = vec![SERVICE; requests.len()];
    for (servers, depth) in [(1, 1), (8, 3), (2, 5)] {
        let rate = 0.9 * f64::from(servers.min(depth)) / SERVICE.as_secs_f64();
        let arrivals: Vec<Time> =
            poisson(Streams::new(9).stream("arrivals"), rate).take(requests.len()).collect();
        for load in [Load::Open(&arrivals), Load::Closed { clients: 32 }] {
            let mut device = hosted(None, Some(depth), &measured(servers));
            let seen = visits(&mut device, &requests, load);
            let expected: Vec<Visit> = queue::first_come(servers.min(depth) as usize, &services, load);
            assert!(seen == expected, "{servers} servers, depth {depth}");
            assert!(count(&device, "waited") > 0);
        }
    }
}

#[test]
fn a_host_keeps_the_contract_of_devices() {
    let policy = Policy { after: Time::from_us(150), retries: 1, backoff: Time::from_us(20) };
    let faulty = "kind = \"faulty\"\ndevice = { kind = \"measured\", read = \"40 us\", write = \"60 us\", parallelism = 2, \
        capacity = \"8 MiB\" }\nfault = [{ kind = \"stall\", start = \"1 ms\", duration = \"500 us\", period = \"2 ms\" }]\n";
    for stack in [measured(2), faulty.to_string()] {
        for (timeout, depth) in [(Some(&policy), None), (None, Some(4)), (Some(&policy), Some(3))] {
            conformance(Time::from_us(120), || Box::new(hosted(timeout, depth, &stack)));
        }
    }
}

fn record(text: &str) -> Result<Record, String> {
    let checked = check(&Document { text, name: "test.toml", overrides: &[], seed: None });
    let checked = checked.map_err(|problems| problems.to_string())?;
    let outcome = run(&checked, &NoFiles, &mut |_| ControlFlow::Continue(()));
    outcome.map(|outcome| outcome.record).map_err(|problems| problems.to_string())
}

const STALL: &str = "[workload]\nkind = \"uniform\"\nfootprint = \"1 MiB\"\nrequests = 20_000\n\
    arrival = { kind = \"closed\", queue_depth = 1 }\n[stack]\nkind = \"faulty\"\ndevice = { kind = \"measured\", \
    read = \"100 us\", write = \"100 us\", capacity = \"1 MiB\" }\n\
    fault = [{ kind = \"stall\", start = \"500.05 ms\", duration = \"1 s\" }]\n";

/// Tests timeouts during a stall. The stall starts 50 us after the device has started a request that takes
/// 100 us.
#[test]
fn requests_time_out_during_a_stall() {
    let max_ns = |record: &Record| record.latency.read.as_ref().expect("it reads").max_ns;
    let patient = record(STALL).expect("legal");
    assert_eq!(max_ns(&patient), 1e9 + 50e3);
    assert!(patient.components[0].kind == "faulty");

    // Each request has three tries. The tries of the first are sent 50 us before the stall. In 1 s, 11
    // requests take 90 ms each, and the 12th is answered at the end of the stall.
    let failing =
        record(&format!("{STALL}[host]\ntimeout = {{ after = \"30 ms\", retries = 2 }}\n")).expect("legal");
    let host = &failing.components[0];
    assert_eq!((host.kind, host.path.as_str()), ("host", "host"));
    let counts = ["requests", "timeouts", "retries", "failed"].map(|name| host.counters[name].as_u64());
    assert_eq!(counts, [20_000, 33, 22, 11].map(Some));
    assert_eq!(failing.requests.errors, 11);
    assert_eq!(max_ns(&failing), 1e9 + 50e3 - 11.0 * 90e6);
    // The tries that the device could not cancel complete at the end of the stall.
    assert_eq!(host.counters["late_answers"].as_u64(), Some(33));

    // With enough attempts, the request succeeds, and its latency includes all of them.
    let patient =
        record(&format!("{STALL}[host]\ntimeout = {{ after = \"30 ms\", retries = 100 }}\n")).expect("legal");
    assert_eq!((max_ns(&patient), patient.requests.errors), (1e9 + 50e3, 0));
    let spent = |activity: &str| {
        let of =
            patient.time_spent.read.iter().find(|spent| spent.activity == activity && spent.kind == "host");
        of.map(|spent| spent.mean_ns * 20_000.0)
    };
    // 33 tries of 30 ms each were lost.
    assert!((spent("retry").expect("it retries") / (33.0 * 30e6) - 1.0).abs() < 1e-9);
}

#[test]
fn each_tenant_is_a_host_with_its_own_queue() {
    let tenant = |name: &str, rate: &str| {
        format!(
            "[[workload.tenant]]\nname = \"{name}\"\nworkload = {{ kind = \"uniform\", requests = 2000, footprint = \
             \"256 KiB\", arrival = {{ kind = \"poisson\", rate = \"{rate}\" }} }}\n"
        )
    };
    // One tenant floods the stack, which has eight servers. The other tenant uses 5 % of one server.
    let stack = measured(8).replace("1 MiB", "4 MiB");
    let text = format!(
        "[workload]\nkind = \"tenants\"\n{}{}[stack]\n{stack}",
        tenant("flood", "200 kHz"),
        tenant("calm", "500 Hz")
    );
    let calm_ns = |record: &Record| record.tenants[1].latency.read.as_ref().expect("it reads").mean_ns;
    let limited = record(&format!("{text}[host]\nqueue_depth = 4\n")).expect("legal");
    // The flooding tenant leaves four servers free.
    assert!((calm_ns(&limited) / 100e3 - 1.0).abs() < 1e-9, "{}", calm_ns(&limited));
    let free = record(&text).expect("legal");
    assert!(calm_ns(&free) > 1.02 * 100e3, "{}", calm_ns(&free));
}

#[test]
fn settings_without_sense_are_refused() {
    let refused = |host: &str| record(&format!("{STALL}[host]\n{host}\n")).expect_err(host);
    assert!(refused("").contains("the table of the host has no setting"));
    assert!(refused("queue_depth = 0").contains("host.queue_depth"));
    assert!(refused("timeout = \"0 s\"").contains("host.timeout"));
    assert!(refused("timeout = { retries = 3 }").contains("host.timeout.after"));
    record(&format!("{STALL}[host]\ntimeout = \"2 s\"\n")).expect("a duration alone is a timeout");
}
