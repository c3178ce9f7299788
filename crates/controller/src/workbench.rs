//! Test workbench of this crate.

use crate::DEVICES;
use crate::cleaning::{self, CleaningFamily};
use crate::ecc::{self, Ecc, EccFamily, Page};
use crate::host_interface::{self, HostInterfaceFamily};
use crate::latency::{LATENCIES, LatencyFamily};
use crate::memory_scheduling::{self, MemorySchedulingFamily};
use crate::wear_leveling::{self, WearLevelingFamily};
use nacre_config::{Configuration, Descriptor, Family, Problems, Slot};
use nacre_kernel::event::{self, Completions, Payload, RequestId};
use nacre_kernel::{Bytes, Request, Span, Status, Time};
pub(crate) use nacre_testkit::Workbench;
use nacre_testkit::workbench::Models;

/// A document with an error-correcting code.
#[derive(Debug, Configuration)]
struct Coded {
    /// The code.
    ecc: Slot<EccFamily>,
}

static TABLES: [&nacre_config::Table<nacre_device::DeviceFamily>; 1] = [DEVICES];

static MODELS: Models = Models { devices: &TABLES, others };

/// The component families of this crate.
pub(crate) fn models() -> &'static dyn nacre_config::Families {
    &MODELS
}

/// A workbench with the components of this crate and the random seed `seed`.
pub(crate) fn workbench(seed: u64) -> Workbench {
    Workbench::new(MODELS, seed)
}

/// Builds the code that the content of a TOML table describes, for pages of `page` bytes.
pub(crate) fn ecc(toml: &str, page: u64) -> Result<Box<dyn Ecc>, Problems> {
    let slot = workbench(1).read::<Coded>(&format!("[ecc]\n{toml}"))?.ecc;
    ecc::build(&slot, Page { families: &MODELS, bytes: Bytes(page) })
}

fn others(family: &str) -> Vec<&'static Descriptor> {
    match family {
        LatencyFamily::NAME => LATENCIES.iter().map(|model| &model.descriptor).collect(),
        CleaningFamily::NAME => cleaning::MODELS.iter().map(|model| &model.descriptor).collect(),
        EccFamily::NAME => ecc::MODELS.iter().map(|model| &model.descriptor).collect(),
        HostInterfaceFamily::NAME => host_interface::MODELS.iter().map(|model| &model.descriptor).collect(),
        MemorySchedulingFamily::NAME => {
            memory_scheduling::MODELS.iter().map(|model| &model.descriptor).collect()
        }
        WearLevelingFamily::NAME => wear_leveling::MODELS.iter().map(|model| &model.descriptor).collect(),
        _ => Vec::new(),
    }
}

/// Completion of a request.
pub(crate) struct Answer {
    pub(crate) done: Time,
    pub(crate) status: Status,
    pub(crate) data: Payload,
    pub(crate) spans: Vec<Span>,
}

/// Submits one request at `now` to an idle device and returns the completion. The spans of the completion sum
/// to its latency.
pub(crate) fn ask(device: &mut dyn event::Device, now: Time, request: &Request, data: Payload) -> Answer {
    let mut completions = Completions::new();
    device.run(now, &mut completions);
    assert!(completions.is_empty(), "nothing is outstanding");
    device.submit(now, RequestId(0), request, data);
    device.run(Time::MAX, &mut completions);
    let (completed, spans) = completions.get(0);
    let (done, status, spans) = (completed.at, completed.status, spans.to_vec());
    let total = spans.iter().fold(Time::ZERO, |sum, span| sum + span.time);
    assert_eq!(total, done - now, "the spans of {request:?}");
    Answer { done, status, spans, data: completions.take_data(0) }
}

/// Runs a device without new requests until it is idle. Returns the time of the last event.
pub(crate) fn rest(device: &mut dyn event::Device) -> Time {
    let mut last = Time::ZERO;
    while device.next_event() < Time::MAX {
        last = device.next_event();
        device.run(last + Time::from_ps(1), &mut Completions::new());
    }
    last
}
