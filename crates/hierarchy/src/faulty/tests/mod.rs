mod bytes;
mod contract;
mod laws;
mod settings;
mod zones;

use crate::workbench::{self, MODELS};
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{FaultCounts, Op, Request, Status, Time};
use nacre_testkit::Workbench;

/// A device that takes 10 us for a read, 20 us for a write or trim, and no time for a flush. It serves all
/// requests in parallel.
pub(super) const BARE: &str =
    "kind = \"measured\"\nread = \"10 us\"\nwrite = \"20 us\"\nparallelism = 64\ncapacity = \"1 MiB\"\n";

/// TOML of a faulty device over `below`. Each fault is given as the contents of a TOML table.
pub(super) fn text(below: &str, faults: &[&str]) -> String {
    let faults: String = faults.iter().map(|fault| format!("[[stack.fault]]\n{fault}\n")).collect();
    format!("[stack]\nkind = \"faulty\"\n[stack.device]\n{below}\n{faults}")
}

pub(super) fn faulty(faults: &[&str]) -> Box<dyn Device> {
    workbench::build(&text(BARE, faults), Workbench::new(MODELS, 1)).expect("it is legal")
}

pub(super) fn with_bytes(faults: &[&str]) -> Box<dyn Device> {
    let workbench = Workbench::new(MODELS, 1).with_bytes();
    workbench::build(&text(BARE, faults), workbench).expect("it is legal")
}

pub(super) fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}

/// Result of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) at: Time,
    pub(super) status: Status,
    pub(super) data: Payload,
}

/// Submits a request at `now` and waits for its completion.
pub(super) fn ask(device: &mut dyn Device, now: Time, request: Request, data: Payload) -> Answer {
    let mut completions = Completions::new();
    device.run(now, &mut completions);
    assert!(completions.is_empty());
    device.submit(now, RequestId(0), &request, data);
    device.run(Time::MAX, &mut completions);
    let (of, spans) = completions.get(0);
    let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
    assert_eq!(total, of.at - now, "the spans of {request:?}");
    Answer { at: of.at, status: of.status, data: of.data.clone() }
}

/// Submits requests of the given kinds at the given times. Returns their completion times and statuses.
pub(super) fn times(device: &mut dyn Device, requests: &[(Time, Op)]) -> Vec<(Time, Status)> {
    let mut seen = vec![(Time::ZERO, Status::Done); requests.len()];
    let mut completions = Completions::new();
    let mut drain = |device: &mut dyn Device, until: Time, seen: &mut Vec<(Time, Status)>| loop {
        completions.clear();
        device.run(until, &mut completions);
        if completions.is_empty() {
            return;
        }
        for of in completions.iter() {
            seen[of.id.0 as usize] = (of.at, of.status);
        }
    };
    for (number, &(now, op)) in requests.iter().enumerate() {
        drain(device, now, &mut seen);
        let bytes = if op == Op::Flush { 0 } else { 4096 };
        device.submit(now, RequestId(number as u32), &request(op, 0, bytes), Payload::NONE);
    }
    drain(device, Time::MAX, &mut seen);
    seen
}

/// Counters of fault `number`.
pub(super) fn counts(device: &dyn Device, number: usize) -> FaultCounts {
    device.report(Time::from_s(1)).faults[number].counts
}

pub(super) const US: fn(u64) -> Time = Time::from_us;

pub(super) const BYTES: usize = 4096;

/// Latency of a request, which must succeed.
pub(super) fn latency(device: &mut dyn Device, now: Time, op: Op) -> Time {
    let bytes = if op == Op::Flush { 0 } else { 4096 };
    let Answer { at, status, .. } = ask(device, now, request(op, 0, bytes), Payload::NONE);
    assert_eq!(status, Status::Done);
    at - now
}

/// At `turn` milliseconds, writes 4 KiB filled with `value` to address 64 KiB. Returns the status.
pub(super) fn write(device: &mut dyn Device, turn: u64, value: u8) -> Status {
    let data = Payload::from(vec![value; BYTES]);
    ask(device, Time::from_ms(turn), request(Op::Write, 65536, BYTES as u32), data).status
}

/// At `turn` milliseconds, reads 4 KiB at `address`. Returns the data.
pub(super) fn read(device: &mut dyn Device, turn: u64, address: u64) -> Vec<u8> {
    let answer = ask(device, Time::from_ms(turn), request(Op::Read, address, BYTES as u32), Payload::NONE);
    assert_eq!(answer.status, Status::Done);
    answer.data.bytes().expect("a read returns bytes").to_vec()
}

/// Writes bytes of value 1 before the fault is active, and then bytes of value 2 while the fault is active.
/// Returns the device, the status of the second write, the data read, and the number of silently corrupted
/// bytes.
pub(super) fn behind(fault: &str) -> (Box<dyn Device>, Status, Vec<u8>, u64) {
    let mut device = with_bytes(&[&format!("start = \"5 ms\"\noperations = [\"write\"]\n{fault}")]);
    assert_eq!(write(&mut *device, 1, 1), Status::Done);
    let status = write(&mut *device, 6, 2);
    let found = read(&mut *device, 10, 65536);
    let silent = counts(&*device, 0).silent_bytes;
    (device, status, found, silent)
}
