use crate::workbench::{self, ROOMS};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{ComponentReport, Op, Request, Span, Status, Time};
use nacre_testkit::Workbench;

mod conformance;
mod laws;
mod levels;
mod mistakes;
mod oracle;
mod preparation;
mod timing;
mod write_back;

/// Kim's PCM SSD and network store; the SSD serves many requests at once.
const PCM: &str = "kind = \"measured\"\nread = \"6.7 us\"\nwrite = \"128.3 us\"\nparallelism = 512\n";
const NETWORK: &str = "kind = \"network\"\nread = \"919.0 us\"\nwrite = \"133.0 us\"\nparallelism = 512\n";

/// The device that `toml` describes under `stack`.
fn build(toml: &str) -> Box<dyn Device> {
    let built = workbench::build_events(toml, Workbench::new(ROOMS, 1));
    built.unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// The same with bytes.
fn build_with_bytes(toml: &str) -> Box<dyn Device> {
    let built = workbench::build_events(toml, Workbench::new(ROOMS, 1).with_bytes());
    built.unwrap_or_else(|problems| panic!("{toml}: {problems}"))
}

/// A one-level cache of `blocks` blocks of 4 KiB; `settings` are those of the cache.
fn pcm_cache(blocks: u64, settings: &str) -> Host {
    let capacity = format!("capacity = \"{} KiB\"", blocks * 4);
    Host::of(&format!(
        "[stack]\nkind = \"server_cache\"\n{settings}\n[[stack.level]]\n[stack.level.device]\n{PCM}{capacity}\n\
         [stack.backing]\n{NETWORK}"
    ))
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}

fn blocks(op: Op, first: u64, count: u64) -> Request {
    Request { arrival: Time::ZERO, address: first * 4096, bytes: (count * 4096) as u32, volume: 0, op }
}

/// How a request completed.
#[derive(Clone, Debug)]
struct Done {
    at: Time,
    latency: Time,
    status: Status,
    spans: Vec<Span>,
}

/// A host that submits requests whenever it likes.
struct Host {
    device: Box<dyn Device>,
    now: Time,
    submitted: Vec<Time>,
    done: Vec<Option<Done>>,
}

impl Host {
    fn new(device: Box<dyn Device>) -> Host {
        Host { device, now: Time::ZERO, submitted: Vec::new(), done: Vec::new() }
    }

    fn of(toml: &str) -> Host {
        Host::new(build(toml))
    }

    /// Submits a request at `now`; its number.
    fn submit(&mut self, now: Time, request: Request) -> usize {
        self.run(now);
        let number = self.submitted.len();
        self.submitted.push(now);
        self.done.push(None);
        self.device.submit(now, RequestId(number as u32), &request, Payload::NONE);
        number
    }

    /// Runs the device to `until`.
    fn run(&mut self, until: Time) {
        assert!(until >= self.now, "time goes back from {} to {until}", self.now);
        while self.step(until) {}
        self.now = until;
    }

    fn step(&mut self, until: Time) -> bool {
        let mut completions = Completions::new();
        self.device.run(until, &mut completions);
        for completed in completions.iter() {
            let (number, spans) = (completed.id.0 as usize, completions.spans(completed).to_vec());
            let latency = completed.at - self.submitted[number];
            let sum = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
            assert_eq!(sum, latency, "the spans of request {number} sum to its latency: {spans:?}");
            self.now = completed.at;
            self.done[number] = Some(Done { at: completed.at, latency, status: completed.status, spans });
        }
        !completions.is_empty()
    }

    /// Runs the device until request `number` has completed.
    fn wait(&mut self, number: usize) -> Done {
        while self.done[number].is_none() {
            assert!(self.step(Time::MAX), "request {number} is lost");
        }
        self.done[number].clone().expect("it has completed")
    }

    /// The latency of a request submitted at `now`. Nothing is submitted before it has completed.
    fn latency(&mut self, now: Time, request: Request) -> Time {
        let number = self.submit(now, request);
        self.wait(number).latency
    }

    /// Runs the device until nothing is pending.
    fn rest(&mut self) {
        while self.device.next_event() < Time::MAX {
            self.step(self.device.next_event() + Time::from_ps(1));
        }
    }

    fn count(&self, name: &str) -> u64 {
        counter(&self.report(), name)
    }

    fn report(&self) -> ComponentReport {
        self.device.report(Time::from_s(1))
    }

    fn check(&self) {
        self.device.check_invariants();
    }
}

fn counter(report: &ComponentReport, name: &str) -> u64 {
    let found = report.counters.iter().find(|(counter, _)| *counter == name);
    found.unwrap_or_else(|| panic!("no counter {name}")).1
}
