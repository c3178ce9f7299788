//! Builds devices for the tests of this crate, as a scenario would.

use crate::placement::{self, PlacementFamily};
use crate::replacement::{self, Replacement, ReplacementFamily};
use nacre_config::{
    Configuration, Descriptor, Families, Family, Node, Problem, Problems, Reader, Room, Slot, room_of,
};
use nacre_controller::cleaning::Cleaner;
use nacre_controller::latency::{LATENCIES, LatencyFamily};
use nacre_controller::{Builder, DeviceFamily, Idle, SizedAccesses};
use nacre_kernel::{Bytes, ComponentId, Device, Random, Streams};

/// The rooms of this crate and of those below it.
pub(crate) struct Rooms;

impl Families for Rooms {
    fn descriptor(&self, family: &str, kind: &str) -> Option<&'static Descriptor> {
        descriptors(family).find(|descriptor| descriptor.kind == kind)
    }

    fn kinds(&self, family: &str) -> Vec<&'static str> {
        descriptors(family).map(|descriptor| descriptor.kind).collect()
    }
}

fn devices() -> impl Iterator<Item = &'static Room<DeviceFamily>> {
    nacre_controller::DEVICES.iter().chain(crate::DEVICES)
}

fn descriptors(family: &str) -> impl Iterator<Item = &'static Descriptor> {
    let devices = devices().map(|room| &room.descriptor).filter(move |_| family == DeviceFamily::NAME);
    let latencies =
        LATENCIES.iter().map(|room| &room.descriptor).filter(move |_| family == LatencyFamily::NAME);
    let policies = replacement::ROOMS.iter().map(|room| &room.descriptor);
    let policies = policies.filter(move |_| family == ReplacementFamily::NAME);
    let placements = placement::ROOMS.iter().map(|room| &room.descriptor);
    let placements = placements.filter(move |_| family == PlacementFamily::NAME);
    devices.chain(latencies).chain(policies).chain(placements)
}

/// A builder with one seed and no files.
struct Workbench {
    streams: Streams,
    components: u8,
}

/// The document around the device under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The device.
    stack: Slot<DeviceFamily>,
}

/// The device that `toml` describes under `stack`.
pub(crate) fn build(toml: &str) -> Result<Box<dyn Device>, Problems> {
    let node = Node::parse_toml(toml, "test.toml")?;
    let mut reader = Reader::new(&Rooms);
    let document = Document::read(&node, &mut reader);
    reader.finish()?;
    let slot = document.expect("no problem was reported").stack;
    Workbench { streams: Streams::new(1), components: 0 }.device(&slot)
}

impl Builder for Workbench {
    fn families(&self) -> &dyn Families {
        &Rooms
    }

    fn component(&mut self) -> ComponentId {
        self.components += 1;
        ComponentId(self.components - 1)
    }

    fn device(&mut self, slot: &Slot<DeviceFamily>) -> Result<Box<dyn Device>, Problems> {
        let room = devices().find(|room| room.descriptor.kind == slot.kind()).expect("the slot was checked");
        (room.build)(slot, self)
    }

    fn random(&self, name: &str) -> Random {
        self.streams.stream(name)
    }

    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems> {
        Err(Problem::new(path, None, "there are no files here").given(file).into())
    }

    fn idle(&mut self, slot: &Slot<DeviceFamily>, bytes: u32) -> Result<Idle, Problems> {
        let mut device = self.device(slot)?;
        Ok(Idle::of(&mut *device, bytes, &mut self.streams.stream("idle")))
    }

    fn accesses(&mut self, path: &str, _: Bytes, _: u32) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
        Err(Problem::new(path, None, "there is no workload here").into())
    }

    fn external_cleaner(&mut self, path: &str, name: &str) -> Result<Box<dyn Cleaner>, Problems> {
        Err(Problem::new(path, None, "there are no policies here").given(name).into())
    }
}

/// The policy `kind` for `capacity` blocks, as it is without settings.
pub(crate) fn policy(kind: &str, capacity: usize) -> Box<dyn Replacement> {
    let node = Node::parse_toml(&format!("policy = \"{kind}\""), "test.toml").expect("well formed");
    let mut reader = Reader::new(&Rooms);
    let slot = PolicyDocument::read(&node, &mut reader).expect("the policy needs no settings").policy;
    let room = room_of(replacement::ROOMS, &slot);
    (room.build)(&slot, &mut replacement::Context { families: &Rooms, capacity }).expect("it can be built")
}

/// The document around a policy under test.
#[derive(Debug, Configuration)]
struct PolicyDocument {
    /// The policy.
    policy: Slot<ReplacementFamily>,
}
