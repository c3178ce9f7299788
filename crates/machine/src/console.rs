//! Test console: single requests to a device, with latency breakdowns.

use crate::host::Host;
use crate::scenario::Checked;
use crate::stack::{Built, Files, build_watched};
use nacre_config::{ErrorCode, Problem, Problems};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Completion, ComponentId, ComponentReport, Op, Request, Span, Status, Time};
use serde::Serialize;
use std::ops::ControlFlow;

/// A request to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleRequest {
    /// The operation.
    pub op: Op,
    /// Address of the first byte.
    pub address: u64,
    /// Size in bytes, or 0 for a flush.
    pub bytes: u32,
}

/// A completed request.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct ConsoleReply {
    /// The operation.
    pub op: &'static str,
    /// Address of the first byte.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// Issue time in nanoseconds, which is the completion time of the previous request.
    pub issued_ns: f64,
    /// Latency in nanoseconds.
    pub latency_ns: f64,
    /// Whether the request succeeded.
    pub is_done: bool,
    /// Time spent per component and activity, in the order in which the device reports it. The sum is the
    /// latency.
    pub spent: Vec<Spent>,
    /// Counters that increased between issue and completion.
    pub counted: Vec<Counted>,
}

/// A portion of a request's latency.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Spent {
    /// Path of the component in the scenario.
    pub component: String,
    /// Activity of the component.
    pub activity: &'static str,
    /// Stage of the activity, or `None` if the device reports no stages.
    pub stage: Option<&'static str>,
    /// Time spent, in nanoseconds.
    pub ns: f64,
}

/// Increase of one counter of a component during a request.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct Counted {
    /// Path of the component in the scenario.
    pub component: String,
    /// Name of the counter.
    pub name: &'static str,
    /// Increase of the counter.
    pub count: u64,
}

/// Issues `requests` one at a time to the stack of a scenario, through the host if the scenario has one.
/// Returns an error if the stack cannot be built, or a request exceeds the capacity.
pub fn ask(
    checked: &Checked,
    files: &dyn Files,
    asked: &[ConsoleRequest],
) -> Result<Vec<ConsoleReply>, Problems> {
    // The requests are not those of the scenario's workload.
    let Built { mut device, mut host, .. } =
        build_watched(checked, files, false, &mut |_| ControlFlow::Continue(()))?;
    if let Some(capacity) = device.capacity() {
        let beyond =
            |asked: &&ConsoleRequest| asked.address.saturating_add(u64::from(asked.bytes)) > capacity.0;
        if let Some(asked) = asked.iter().find(beyond) {
            let given = format!("{} bytes from {} on", asked.bytes, asked.address);
            let problem = format!("it is past the end of the device, which has {} bytes", capacity.0);
            let end = u128::from(asked.address) + u128::from(asked.bytes);
            return Err(Problem::new(ErrorCode::PastTheEnd, "requests", None, &problem)
                .data("end", end)
                .data("capacity", capacity.0)
                .given(given)
                .remedy("use a smaller size or address")
                .into());
        }
    }
    device.detail(true);
    let mut now = Time::ZERO;
    Ok(asked.iter().map(|asked| one((&mut *device, host.as_mut()), &mut now, asked)).collect())
}

fn one(
    (device, mut host): (&mut dyn Device, Option<&mut Host>),
    now: &mut Time,
    asked: &ConsoleRequest,
) -> ConsoleReply {
    let ConsoleRequest { op, address, bytes } = *asked;
    let request = Request { arrival: *now, address, bytes, volume: 0, op };
    device.restart_ledger(*now);
    let (issued, before) = (*now, report(device, host.as_deref(), Time::ZERO));
    let mut completions = Completions::new();
    match &mut host {
        None => {
            device.submit(issued, RequestId(0), &request, Payload::NONE);
            device.run(Time::MAX, &mut completions);
        }
        Some(host) => {
            host.submit(device, issued, RequestId(0), &request);
            host.run(device, Time::MAX, &mut completions);
        }
    }
    let (completed, spans) = completions.get(0);
    *now = completed.at;
    let report = report(device, host.as_deref(), completed.at - issued);
    let completion = Completion { done: completed.at, status: completed.status };
    answered(*asked, issued, completion, spans, [&before, &report])
}

/// Returns the report of the device or, if there is a host, the report of the host with the device as its
/// child.
fn report(device: &dyn Device, host: Option<&Host>, elapsed: Time) -> ComponentReport {
    let below = device.report(elapsed);
    match host {
        None => below,
        Some(host) => ComponentReport { children: vec![below], ..host.report() },
    }
}

/// Describes the completed request `asked` that was issued at `issued`. `before` and `after` are reports of
/// the device before the request and after its completion.
pub fn answered(
    asked: ConsoleRequest,
    issued: Time,
    completion: Completion,
    spans: &[Span],
    [before, after]: [&ComponentReport; 2],
) -> ConsoleReply {
    let spent = spans.iter().map(|span| Spent {
        component: path_of(after, span.component).unwrap_or_default(),
        activity: span.activity.name(),
        stage: span.stage.name(),
        ns: span.time.as_ns_f64(),
    });
    let mut counted = Vec::new();
    count(before, after, &mut counted);
    ConsoleReply {
        op: asked.op.name(),
        address: asked.address,
        bytes: asked.bytes,
        issued_ns: issued.as_ns_f64(),
        latency_ns: (completion.done - issued).as_ns_f64(),
        is_done: completion.status == Status::Done,
        spent: spent.collect(),
        counted,
    }
}

fn path_of(report: &ComponentReport, id: ComponentId) -> Option<String> {
    if report.id == id {
        return Some(report.path.clone());
    }
    report.children.iter().find_map(|child| path_of(child, id))
}

/// Adds the counter differences between two reports to `into`. Omits counters that did not increase, e.g.
/// the number of valid pages.
fn count(before: &ComponentReport, after: &ComponentReport, into: &mut Vec<Counted>) {
    let earlier =
        |name: &str| before.counters.iter().find(|(known, _)| *known == name).map_or(0, |&(_, n)| n);
    let grown = after.counters.iter().map(|&(name, count)| (name, count.saturating_sub(earlier(name))));
    let counted = grown.filter(|&(_, count)| count > 0);
    into.extend(counted.map(|(name, count)| Counted { component: after.path.clone(), name, count }));
    before.children.iter().zip(&after.children).for_each(|(before, after)| count(before, after, into));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, check};
    use std::io::{self, BufRead};

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

    fn ask_of(stack: &str, requests: &[ConsoleRequest]) -> Result<Vec<ConsoleReply>, Problems> {
        ask_through("", stack, requests)
    }

    fn ask_through(
        host: &str,
        stack: &str,
        requests: &[ConsoleRequest],
    ) -> Result<Vec<ConsoleReply>, Problems> {
        let workload =
            "kind = \"uniform\"\nrequests = 1\nfootprint = \"1 MiB\"\narrival = { kind = \"closed\" }";
        let scenario = format!("[workload]\n{workload}\n{host}[stack]\n{stack}");
        let document = Document { text: &scenario, name: "test.toml", overrides: &[], seed: None };
        ask(&check(&document)?, &NoFiles, requests)
    }

    const READ: ConsoleRequest = ConsoleRequest { op: Op::Read, address: 8192, bytes: 4096 };

    /// Tests a read that times out: three tries of 30 us and two pauses of 10 us take 110 us. The device
    /// still serves the tries that it could not cancel, so the next write is delayed.
    #[test]
    fn a_host_times_out_and_retries() {
        let host = "[host]\ntimeout = { after = \"30 us\", retries = 2, backoff = \"10 us\" }\n";
        let slow = "kind = \"measured\"\nread = \"100 us\"\nwrite = \"20 us\"\ncapacity = \"1 MiB\"\n";
        let write = ConsoleRequest { op: Op::Write, ..READ };
        let answers = ask_through(host, slow, &[READ, write]).expect("it is legal");
        assert_eq!((answers[0].is_done, answers[0].latency_ns), (false, 110e3));
        let count = |name| answers[0].counted.iter().find(|each| each.name == name).map(|each| each.count);
        assert_eq!((count("timeouts"), count("retries"), count("failed")), (Some(3), Some(2), Some(1)));
        let spent: Vec<_> = answers[0].spent.iter().map(|spent| (&spent.component[..], spent.ns)).collect();
        assert_eq!(spent, [("host", 110e3)]);
        let alone = ask_of(slow, &[write]).expect("it is legal");
        assert!(answers[1].latency_ns >= alone[0].latency_ns);
    }

    #[test]
    fn what_a_request_spent_adds_up_and_the_next_begins_when_it_is_done() {
        let write = ConsoleRequest { op: Op::Write, ..READ };
        let answers = ask_of("preset = \"nvram_ddr3_flash\"", &[READ, write]).expect("they lie in the card");
        for answer in &answers {
            let spent: f64 = answer.spent.iter().map(|spent| spent.ns).sum();
            assert!((spent - answer.latency_ns).abs() < 0.001, "{answer:?}");
            assert!(answer.spent.iter().all(|spent| spent.component == "stack"));
            let stages: Vec<_> = answer.spent.iter().filter_map(|spent| spent.stage).collect();
            for stage in ["doorbell", "command fetch", "row activate", "column", "data bus", "completion"] {
                assert!(stages.contains(&stage), "{stage}: {stages:?}");
            }
            // One row of 8 KiB has 64 bursts of 64 B.
            let count = |name| answer.counted.iter().find(|each| each.name == name).map(|each| each.count);
            assert_eq!((count("activates"), count("precharges")), (Some(1), Some(1)));
            let bursts = count("bursts_read").or(count("bursts_written"));
            assert_eq!(bursts, Some(64));
        }
        assert_eq!(answers[1].issued_ns, answers[0].latency_ns);
    }

    #[test]
    fn a_request_beyond_the_device_is_refused() {
        let beyond = ConsoleRequest { address: 1 << 30, ..READ };
        let problems = ask_of("preset = \"nvram_mram\"", &[beyond]).expect_err("it has 1 GiB");
        assert!(problems.to_string().contains("past the end of the device"), "{problems}");
    }
}
