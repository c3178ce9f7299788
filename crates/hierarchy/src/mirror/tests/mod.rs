mod contract;
mod errors;
mod laws;
mod oracle;
mod power;
mod settings;

use crate::workbench::{self, MODELS};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Request, Status, Time};
use nacre_testkit::Workbench;
use nacre_testkit::host::counter;

/// A member that takes 10 us for a read and 20 us for a write, and serves up to 64 requests in parallel.
const BARE: &str =
    "kind = \"measured\", read = \"10 us\", write = \"20 us\", parallelism = 64, capacity = \"1 MiB\"";

/// TOML of a mirror with these settings and members.
fn text(settings: &str, members: &[&str]) -> String {
    let members: Vec<String> = members.iter().map(|member| format!("{{ {member} }}")).collect();
    format!("[stack]\nkind = \"mirror\"\n{settings}\nmember = [{}]\n", members.join(", "))
}

/// TOML for `device` with a fault. Both arguments are the contents of tables.
fn faulty(device: &str, fault: &str) -> String {
    format!("kind = \"faulty\", device = {{ {device} }}, fault = [{{ {fault} }}]")
}

fn mirror(settings: &str, members: &[&str]) -> Box<dyn Device> {
    workbench::build(&text(settings, members), Workbench::new(MODELS, 1)).expect("it is legal")
}

fn with_bytes(settings: &str, members: &[&str]) -> Box<dyn Device> {
    let workbench = Workbench::new(MODELS, 1).with_bytes();
    workbench::build(&text(settings, members), workbench).expect("it is legal")
}

fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}

/// Submits a request at `now` and waits for its completion. Returns its latency, status, and data.
fn ask(device: &mut dyn Device, now: Time, request: Request, data: Payload) -> (Time, Status, Payload) {
    let mut completions = Completions::new();
    device.run(now, &mut completions);
    assert!(completions.is_empty());
    device.submit(now, RequestId(0), &request, data);
    device.run(Time::MAX, &mut completions);
    let (of, spans) = completions.get(0);
    let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
    assert_eq!(total, of.at - now, "the spans of {request:?}");
    (of.at - now, of.status, of.data.clone())
}

/// Writes 4 KiB filled with `value` at `address`. Returns the status.
fn write(device: &mut dyn Device, now: Time, address: u64, value: u8) -> Status {
    ask(device, now, request(Op::Write, address, 4096), vec![value; 4096].into()).1
}

/// Reads 4 KiB. Returns the status and the first byte.
fn read(device: &mut dyn Device, now: Time, address: u64) -> (Status, Option<u8>) {
    let (_, status, data) = ask(device, now, request(Op::Read, address, 4096), Payload::NONE);
    (status, data.bytes().map(|bytes| bytes[0]))
}

fn count(device: &dyn Device, name: &str) -> u64 {
    counter(&device.report(Time::from_s(1)), name)
}

/// Value of a counter of a member.
fn of_member(device: &dyn Device, member: usize, name: &str) -> u64 {
    counter(&device.report(Time::from_s(1)).children[member], name)
}

/// Processes all pending events of the device.
fn rest(device: &mut dyn Device) {
    while device.next_event() < Time::MAX {
        device.run(Time::MAX, &mut Completions::new());
    }
    device.check_invariants();
}
