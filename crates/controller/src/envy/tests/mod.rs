//! Tests of the complete device.

use super::Config;
use super::geometry::Geometry;
use super::model::Envy;
use crate::cleaning::{Cleaner, Decision, View};
use crate::workbench::{Answer, ask, workbench};
use nacre_config::Configuration;
use nacre_kernel::event::Payload;
use nacre_kernel::state::State;
use nacre_kernel::{ComponentId, Op, Request, Time};
use nacre_media::store::Store;

mod invalid_settings;
mod laws;
mod losses;
mod memory;
mod oracle;

/// A document with a device configuration.
#[derive(Debug, Configuration)]
struct Document {
    /// The device's settings.
    device: Config,
}

/// A device with these `settings` and the cleaning policy `cleaner`. Its data is in `store`.
fn device<S: Store>(settings: &str, store: S, cleaner: impl Cleaner + 'static) -> Envy<S> {
    let text = format!("[device]\ncleaning = \"greedy\"\n{settings}");
    let document: Document = workbench(1).read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let config = document.device;
    let geometry = Geometry::of(&config);
    Envy::new(ComponentId(0), "device".into(), config, geometry, store, Box::new(cleaner))
}

/// Completion of one request at `now`, with no other request outstanding.
fn answer_to<S: Store>(envy: &mut Envy<S>, now: Time, op: Op, address: u64, bytes: u32) -> Answer {
    ask(envy, now, &Request { arrival: now, address, bytes, volume: 0, op }, Payload::NONE)
}

/// A policy that cleans the segment with the fewest valid pages. The value is the number of segments per
/// partition, or `None` if all segments form one partition.
#[derive(State)]
struct FewestLive(#[state(same)] Option<u32>);

impl Cleaner for FewestLive {
    fn partition_segments(&self) -> Option<u32> {
        self.0
    }

    fn decide(&mut self, view: &View<'_>, partition: usize) -> Decision {
        let victim = view.places_of(partition).min_by_key(|&position| view.places[position].live);
        Decision::clean(victim.expect("a partition has positions"))
    }
}

/// Four segments, one of which is a spare, and a write buffer of four pages. A segment has eight pages of
/// eight bytes.
const TINY: &str = "segments = 4\nsegment = \"64 B\"\npage = \"8 B\"\nbuffer = \"32 B\"\nbanks = 4\n\
    utilization = \"87.5 %\"\nthreshold = \"50 %\"\nmmu_entries = 2\n";
