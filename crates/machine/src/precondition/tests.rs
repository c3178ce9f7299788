use crate::drive::Driver;
use crate::progress::Progress;
use crate::stack::{Built, build};
use crate::{Checked, Document, Files, check, run};
use nacre_kernel::event::{Agenda, Completions, Device, Payload, Preconditioning, RequestId};
use nacre_kernel::state::State;
use nacre_kernel::{
    Activity, Bytes, Capabilities, ComponentId, ComponentReport, Op, Persistence, Random, Recovery, Request,
    Status, Time,
};
use nacre_testkit::empty_report;
use std::collections::BTreeSet;
use std::io::{self, BufRead, Cursor};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

const TRACE: &str = "timestamp_us,op,offset,length\n0,read,0,512\n5,write,4096,512\n9,write,8192,512\n";
const HOT: &str = "kind = \"hot_cold\"\nrequests = 2_000\nfootprint = \"4 GiB\"\nread_share = \"50 %\"\n\
                   locality = \"1/99\"\n";
const BANK: &str = "kind = \"tpca\"\nrate = \"10 kHz\"\ntransactions = 50\nbranches = 1\n";

struct OneTrace;

impl Files for OneTrace {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Ok(Box::new(Cursor::new(TRACE)))
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A device that records the writes of its preconditioning and the requests that it serves.
#[derive(Default, State)]
struct RecordingDevice {
    #[state(skip = "the test reads it")]
    prepared: Arc<Mutex<Vec<Request>>>,
    #[state(skip = "the test reads it")]
    served: Arc<Mutex<Vec<Request>>>,
    due: Agenda<RequestId>,
}

impl Device for RecordingDevice {
    fn submit(&mut self, now: Time, id: RequestId, request: &Request, _data: Payload) {
        self.served.lock().unwrap().push(*request);
        self.due.schedule(now, id);
    }

    fn next_event(&self) -> Time {
        self.due.next()
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        if let Some((at, id)) = self.due.pop_before(until) {
            completions.push(id, at, Status::Done, ComponentId(0), [(Activity::Write, Time::ZERO)]);
        }
    }

    fn capacity(&self) -> Option<Bytes> {
        Some(Bytes(1 << 40))
    }

    fn restart_ledger(&mut self, _now: Time) {}

    fn report(&self, _elapsed: Time) -> ComponentReport {
        empty_report(0, "memory", "stack")
    }

    fn check_invariants(&self) {}

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            carries_bytes: false,
            persistence: Persistence::OnAcknowledgement,
            atomic_unit: 512,
            transactions: false,
            preconditions: true,
            uses_addresses: true,
            wears_out_ahead: false,
        }
    }

    fn power_fail(&mut self, _at: Time, _chance: &mut Random) {}

    fn recover(&mut self, at: Time) -> Recovery {
        Recovery { done: at, ..Recovery::default() }
    }

    fn preconditioning(&mut self) -> Option<&mut dyn Preconditioning> {
        Some(self)
    }
}

impl Preconditioning for RecordingDevice {
    fn precondition(&mut self, requests: &[Request]) {
        assert!(self.served.lock().unwrap().is_empty(), "time has begun");
        self.prepared.lock().unwrap().extend_from_slice(requests);
    }
}

fn checked(workload: &str, writes: u64) -> Checked {
    let text = format!(
        "[workload]\n{workload}\n[stack]\nkind = \"measured\"\nread = \"1 us\"\nwrite = \"1 us\"\n\
         [run]\nprecondition = {writes}\n"
    );
    let checked = check(&Document { text: &text, name: "test.toml", overrides: &[], seed: None });
    checked.unwrap_or_else(|problems| panic!("{problems}"))
}

/// Returns the preconditioning writes that a device receives, and the requests that it then serves.
fn given(workload: &str, writes: u64) -> (Vec<Request>, Vec<Request>) {
    let checked = checked(workload, writes);
    let built = build(&checked, &OneTrace).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(built.preconditioning.is_some(), writes > 0);
    let device = RecordingDevice::default();
    let (prepared, served) = (device.prepared.clone(), device.served.clone());
    let built = Built { device: Box::new(device), ..built };
    let Built { device, workload, preconditioning, footprint, host, components } = built;
    let mut driver =
        Driver::new(&checked, Built { device, workload, preconditioning: None, footprint, host, components });
    let watch = &mut |_: Progress| ControlFlow::Continue(());
    if let Some(mut preconditioning) = preconditioning {
        let went_on = driver.precondition(&mut *preconditioning, watch);
        assert!(went_on.unwrap_or_else(|problems| panic!("{problems}")).is_continue());
    }
    driver.drive(None, watch).unwrap_or_else(|problems| panic!("{problems}"));
    let copy = |requests: &Mutex<Vec<Request>>| requests.lock().unwrap().clone();
    (copy(&prepared), copy(&served))
}

/// Returns the errors of a run.
fn errors(workload: &str, writes: u64) -> String {
    let outcome = run(&checked(workload, writes), &OneTrace, &mut |_| ControlFlow::Continue(()));
    outcome.map(|outcome| outcome.record.requests).expect_err("an error").to_string()
}

#[test]
fn the_device_gets_as_many_writes_as_were_asked_for_before_time_begins() {
    for workload in [HOT, BANK] {
        for writes in [1, 4_095, 4_096, 10_000] {
            let (prepared, served) = given(workload, writes);
            assert_eq!(prepared.len() as u64, writes);
            let is_plain = |request: &Request| request.op == Op::Write && request.arrival == Time::ZERO;
            assert!(prepared.iter().all(is_plain) && !served.is_empty());
        }
    }
}

#[test]
fn what_is_measured_does_not_depend_on_it() {
    for workload in [HOT, BANK, "kind = \"trace\"\nfile = \"t\"\nformat = \"nacre_csv\"\n"] {
        let (prepared, served) = given(workload, 2);
        assert_eq!((prepared.len(), &served), (2, &given(workload, 0).1), "{workload}");
    }
}

#[test]
fn the_draws_are_new_and_what_is_hot_stays_hot() {
    let (prepared, served) = given(HOT, 1_000);
    let measured: Vec<u64> =
        served.iter().filter(|request| request.op == Op::Write).map(|request| request.address).collect();
    let prepared: Vec<u64> = prepared.iter().map(|request| request.address).collect();
    let common = prepared.len().min(measured.len());
    assert_ne!(prepared[..common], measured[..common], "the same draws again");
    // 1 % of 2^20 blocks is hot. Both sets contain about 1000 of them, and 1 in 10.5 is in the other set.
    let blocks: BTreeSet<u64> = measured.iter().copied().collect();
    let met = prepared.iter().filter(|address| blocks.contains(address)).count();
    assert!((50..140).contains(&met), "{met} of the hot blocks are the same");
}

#[test]
fn a_trace_is_replayed_up_to_its_last_write() {
    let trace = "kind = \"trace\"\nfile = \"t\"\nformat = \"nacre_csv\"\n";
    let addresses: Vec<u64> = given(trace, 2).0.iter().map(|request| request.address).collect();
    assert_eq!(addresses, [4_096, 8_192]);
    let problems = {
        let checked = checked(trace, 3);
        let built = build(&checked, &OneTrace).unwrap_or_else(|problems| panic!("{problems}"));
        let mut preconditioning = built.preconditioning.expect("asked for");
        let built = Built { device: Box::new(RecordingDevice::default()), preconditioning: None, ..built };
        let mut driver = Driver::new(&checked, built);
        driver.precondition(&mut *preconditioning, &mut |_| ControlFlow::Continue(())).unwrap_err()
    };
    assert_eq!(
        problems.to_string(),
        "run.precondition (test.toml:11): the workload has only 2 writes; reduce it, or give it a workload with \
         writes"
    );
}

#[test]
fn a_device_without_such_a_state_is_named() {
    assert_eq!(
        errors(HOT, 7),
        "run.precondition (test.toml:13): the stack, measured, has no state to precondition; \
         envy, onyx, ssd and zns_ssd have one; remove it, and use run.warm_up"
    );
}

#[test]
fn a_workload_that_only_reads_prepares_nothing() {
    let reads = HOT.replace("50 %", "100 %");
    assert!(errors(&reads, 7).contains("the workload has only 0 writes"));
}

#[test]
fn it_can_be_watched_and_stopped() {
    let checked = checked(BANK, 10_000);
    let built = build(&checked, &OneTrace).unwrap_or_else(|problems| panic!("{problems}"));
    let mut preconditioning = built.preconditioning.expect("asked for");
    let built = Built { device: Box::new(RecordingDevice::default()), preconditioning: None, ..built };
    let mut seen = Vec::new();
    let ended = Driver::new(&checked, built).precondition(&mut *preconditioning, &mut |progress| {
        assert!(progress.preconditioning && progress.simulated == Time::ZERO);
        seen.push((progress.done, progress.expected));
        if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(ended.unwrap_or_else(|problems| panic!("{problems}")).is_break());
    assert_eq!(seen, [(4_096, Some(10_000)), (8_192, Some(10_000))]);
}
