//! Builds devices for the tests of this crate, as a scenario would.

use crate::cleaning::{self, Cleaner, CleaningFamily};
use crate::latency::{LATENCIES, LatencyFamily};
use crate::wear_levelling::{self, WearLevellingFamily};
use crate::{Builder, DEVICES, DeviceFamily, Idle, SizedAccesses};
use nacre_config::{Descriptor, Configuration, Families, Family, Node, Problem, Problems, Reader, Slot, room_of};
use nacre_kernel::{Bytes, ComponentId, Device, Random, Streams};

/// The rooms of this crate.
struct Rooms;

impl Families for Rooms {
    fn descriptor(&self, family: &str, kind: &str) -> Option<&'static Descriptor> {
        descriptors(family).find(|descriptor| descriptor.kind == kind)
    }

    fn kinds(&self, family: &str) -> Vec<&'static str> {
        descriptors(family).map(|descriptor| descriptor.kind).collect()
    }
}

fn descriptors(family: &str) -> impl Iterator<Item = &'static Descriptor> {
    let devices = DEVICES.iter().map(|room| &room.descriptor).filter(move |_| family == DeviceFamily::NAME);
    let latencies =
        LATENCIES.iter().map(|room| &room.descriptor).filter(move |_| family == LatencyFamily::NAME);
    let policies = cleaning::ROOMS.iter().map(|room| &room.descriptor);
    let policies = policies.filter(move |_| family == CleaningFamily::NAME);
    let levellers = wear_levelling::ROOMS.iter().map(|room| &room.descriptor);
    let levellers = levellers.filter(move |_| family == WearLevellingFamily::NAME);
    devices.chain(latencies).chain(policies).chain(levellers)
}

/// A builder with one seed and a few files.
pub(crate) struct Workbench {
    streams: Streams,
    files: Vec<(&'static str, String)>,
    components: u8,
}

/// The document around the device under test.
#[derive(Debug, Configuration)]
struct Document {
    /// The device.
    device: Slot<DeviceFamily>,
}

impl Workbench {
    pub(crate) fn new(seed: u64) -> Workbench {
        Workbench { streams: Streams::new(seed), files: Vec::new(), components: 0 }
    }

    /// With a text file a scenario may name.
    pub(crate) fn file(mut self, name: &'static str, text: impl Into<String>) -> Workbench {
        self.files.push((name, text.into()));
        self
    }

    /// A document read from TOML.
    pub(crate) fn read<C: Configuration>(&self, toml: &str) -> Result<C, Problems> {
        let node = Node::parse_toml(toml, "test.toml")?;
        let mut reader = Reader::new(&Rooms);
        let document = C::read(&node, &mut reader);
        reader.finish()?;
        Ok(document.expect("no problem was reported"))
    }

    /// A catalogue entry as the inside of a table.
    pub(crate) fn catalogued(entry: &str) -> String {
        entry
            .lines()
            .filter(|line| !line.starts_with("summary"))
            .fold(String::new(), |text, line| text + line + "\n")
    }

    /// The slot that the inside of a TOML table describes.
    pub(crate) fn slot(&self, toml: &str) -> Result<Slot<DeviceFamily>, Problems> {
        Ok(self.read::<Document>(&format!("[device]\n{toml}"))?.device)
    }

    /// The device that the inside of a TOML table describes.
    pub(crate) fn build(&mut self, toml: &str) -> Result<Box<dyn Device>, Problems> {
        let document: Document = self.read(&format!("[device]\n{toml}"))?;
        self.device(&document.device)
    }
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
        (room_of(DEVICES, slot).build)(slot, self)
    }

    fn random(&self, name: &str) -> Random {
        self.streams.stream(name)
    }

    fn idle(&mut self, slot: &Slot<DeviceFamily>, bytes: u32) -> Result<Idle, Problems> {
        let mut device = self.device(slot)?;
        Ok(Idle::of(&mut *device, bytes, &mut self.streams.stream("idle")))
    }

    fn accesses(&mut self, path: &str, _: Bytes, _: u32) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
        Err(Problem::new(path, None, "there is no workload here").into())
    }

    fn external_cleaner(&mut self, path: &str, name: &str) -> Result<Box<dyn Cleaner>, Problems> {
        Err(Problem::new(path, None, "there is no such policy").given(name).into())
    }

    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems> {
        let found = self.files.iter().find(|(name, _)| *name == file);
        let missing = || Problem::new(path, None, "there is no such file").given(file).into();
        found.map(|(_, text)| text.clone()).ok_or_else(missing)
    }
}
