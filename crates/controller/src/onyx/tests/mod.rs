//! Tests of the complete drive.

use crate::workbench::{Workbench, workbench};
use nacre_kernel::event::Device;
use nacre_kernel::{Op, Request, Streams, Time};
use nacre_testkit::Seen;
use nacre_testkit::closed_loop;

mod data;
mod front;
mod laws;
mod memory;
mod oracle;
mod published;

/// A drive with these settings.
fn drive(settings: &str) -> Box<dyn Device> {
    let built = workbench(1).build(&format!("kind = \"onyx\"\n{settings}"));
    built.unwrap_or_else(|problems| panic!("{problems}"))
}

/// Builds the catalog entry in `text`, with additional settings.
fn cataloged(text: &str, settings: &str) -> Box<dyn Device> {
    let built = workbench(1).build(&format!("{}{settings}", Workbench::cataloged(text)));
    built.unwrap_or_else(|problems| panic!("{problems}"))
}

fn request(op: Op, address: u64, bytes: u32) -> Request {
    Request { arrival: Time::ZERO, address, bytes, volume: 0, op }
}

/// Runs `count` random requests of `bytes` bytes, with `depth` outstanding.
fn random(device: &mut dyn Device, depth: u32, count: u64, op: Op, bytes: u32) -> Seen {
    let mut random = Streams::new(5).stream("addresses");
    let places = device.capacity().expect("a drive has an end").0 / u64::from(bytes);
    closed_loop(device, depth, count, |_| request(op, random.below(places) * u64::from(bytes), bytes))
}
