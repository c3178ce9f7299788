//! Construction of devices for tests, in the same manner as for a scenario.

use nacre_config::{
    Configuration, Descriptor, ErrorCode, Families, Family, Node, Problem, Problems, Reader, Slot, Table,
};
use nacre_crash::Media;
use nacre_device::{Builder, DeviceFamily, Idle, SizedAccesses, TableMemory, UnitsInRun};
use nacre_kernel::{Bytes, ComponentId, Random, Streams, event::Device};
use nacre_media::store::{Layout, Pages};
use std::any::Any;

/// Component models that are available to the tests of a crate.
#[derive(Clone, Copy)]
pub struct Models {
    /// Models of devices, in tables.
    pub devices: &'static [&'static Table<DeviceFamily>],
    /// Function that returns the components of any other family, given the name of the family.
    pub others: fn(&str) -> Vec<&'static Descriptor>,
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.kinds(DeviceFamily::NAME)).finish()
    }
}

impl Models {
    fn descriptors(&self, family: &str) -> Vec<&'static Descriptor> {
        if family == DeviceFamily::NAME {
            return self
                .devices
                .iter()
                .flat_map(|table| table.iter())
                .map(|model| &model.descriptor)
                .collect();
        }
        (self.others)(family)
    }
}

impl Families for Models {
    fn descriptor(&self, family: &str, kind: &str) -> Option<&'static Descriptor> {
        self.descriptors(family).into_iter().find(|descriptor| descriptor.kind == kind)
    }

    fn kinds(&self, family: &str) -> Vec<&'static str> {
        self.descriptors(family).iter().map(|descriptor| descriptor.kind).collect()
    }
}

/// A builder of devices with one random seed and a few files.
#[derive(Debug)]
pub struct Workbench {
    models: Models,
    streams: Streams,
    files: Vec<(&'static str, String)>,
    components: u8,
    /// Stores of the devices; `None` if devices do not store data.
    media: Option<Media>,
}

/// A document that describes the device under test.
#[derive(Debug, Configuration)]
struct Document {
    /// Device under test.
    device: Slot<DeviceFamily>,
}

impl Workbench {
    /// Creates a builder with `models` for devices that do not store data.
    pub fn new(models: Models, seed: u64) -> Workbench {
        Workbench { models, streams: Streams::new(seed), files: Vec::new(), components: 0, media: None }
    }

    /// Adds a text file that a scenario may name.
    pub fn file(mut self, name: &'static str, text: impl Into<String>) -> Workbench {
        self.files.push((name, text.into()));
        self
    }

    /// Makes later devices store data. The next device has empty stores.
    pub fn with_bytes(mut self) -> Workbench {
        self.use_bytes(&Media::new());
        self
    }

    /// Makes the next device use the stores of `media`.
    pub fn use_bytes(&mut self, media: &Media) {
        (self.media, self.components) = (Some(media.clone()), 0);
    }

    /// Makes the next device use the stores of the previous device, as if another process opened the same
    /// image.
    pub fn again(&mut self) {
        self.components = 0;
        self.media.iter().for_each(Media::again);
    }

    /// Reads a configuration from a TOML text.
    pub fn read<C: Configuration>(&self, toml: &str) -> Result<C, Problems> {
        let node = Node::parse_toml(toml, "test.toml")?;
        let mut reader = Reader::new(&self.models);
        let document = C::read(&node, &mut reader);
        reader.finish()?;
        Ok(document.expect("no problem was reported"))
    }

    /// Returns the settings of a catalog entry as the content of the table `device`.
    pub fn cataloged(entry: &str) -> String {
        entry.lines().filter(|line| !line.starts_with("summary")).fold(String::new(), |text, line| match line
            .strip_prefix('[')
        {
            Some(table) => text + "[device." + table + "\n",
            None => text + line + "\n",
        })
    }

    /// Returns the slot that the content of a TOML table describes.
    pub fn slot(&self, toml: &str) -> Result<Slot<DeviceFamily>, Problems> {
        Ok(self.read::<Document>(&format!("[device]\n{toml}"))?.device)
    }

    /// Builds the device that the content of a TOML table describes.
    pub fn build(&mut self, toml: &str) -> Result<Box<dyn Device>, Problems> {
        let slot = self.slot(toml)?;
        self.device(&slot)
    }
}

impl Builder for Workbench {
    fn families(&self) -> &dyn Families {
        &self.models
    }

    fn component(&mut self) -> ComponentId {
        self.components += 1;
        ComponentId(self.components - 1)
    }

    fn device(&mut self, slot: &Slot<DeviceFamily>) -> Result<Box<dyn Device>, Problems> {
        let mut models = self.models.devices.iter().flat_map(|table| table.iter());
        let model = models.find(|model| model.descriptor.kind == slot.kind()).expect("the slot was checked");
        (model.build)(slot, self)
    }

    fn store(&mut self, _path: &str, layout: Layout) -> Option<Box<dyn Pages>> {
        Some(Box::new(self.media.as_ref()?.store(layout)))
    }

    fn random(&self, name: &str) -> Random {
        self.streams.stream(name)
    }

    fn idle(&mut self, slot: &Slot<DeviceFamily>, bytes: u32) -> Result<Idle, Problems> {
        let mut aside = Workbench { files: self.files.clone(), ..Workbench::new(self.models, 1) };
        let mut device = aside.device(slot)?;
        Ok(Idle::of(&mut *device, bytes, &mut self.streams.stream("idle")))
    }

    fn take_memory(&mut self, _path: &str, _bytes: u64) -> Result<(), Problems> {
        Ok(())
    }

    fn take_memory_as_touched(&mut self, _path: &str, _tables: TableMemory) -> Result<(), Problems> {
        Ok(())
    }

    fn units_in_run(&self, _path: &str, _unit: Bytes, _capacity: Bytes) -> Option<UnitsInRun> {
        None
    }

    fn accesses(&mut self, path: &str, _: Bytes, _: u32) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
        Err(Problem::new(ErrorCode::NotSupported, path, None, "there is no workload here").into())
    }

    fn external_policy(&mut self, _: &str, path: &str, name: &str) -> Result<Box<dyn Any>, Problems> {
        Err(Problem::new(ErrorCode::NoFunction, path, None, "there is no such policy").given(name).into())
    }

    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems> {
        let found = self.files.iter().find(|(name, _)| *name == file);
        let missing =
            || Problem::new(ErrorCode::FileNotFound, path, None, "there is no such file").given(file).into();
        found.map(|(_, text)| text.clone()).ok_or_else(missing)
    }
}
