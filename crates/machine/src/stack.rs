//! Construction of the components of a checked scenario.

mod memory;
mod workloads;

use crate::accesses;
use crate::host::Host;
use crate::models::{self, Models};
use crate::progress::Watch;
use crate::scenario::{Checked, FillOf, PARTS_MAX};
use memory::{TakenMemory, Writers};
use nacre_config::problem::both;
use nacre_config::{CountOr, ErrorCode, Families, Family, Problem, Problems, Slot};
use nacre_controller::cleaning::{Cleaner, CleaningFamily};
use nacre_device::{Builder, DeviceFamily, Idle, SizedAccesses, TableMemory, UnitsInRun};
use nacre_hierarchy::placement::{Decider, PlacementFamily};
use nacre_hierarchy::replacement::{Brought, ReplacementFamily};
use nacre_hierarchy::tiers::mixes::Mixes;
use nacre_kernel::{Bytes, Capabilities, ComponentId, Random, Ranges, Streams, event};
use nacre_media::store::{Layout, Pages};
use nacre_workload::replay::{By, First, Shares};
use nacre_workload::{Workload, WorkloadBuilder, WorkloadFamily};
use std::any::Any;
use std::io::{self, BufRead};
use std::ops::ControlFlow;
use workloads::file_problem;

/// Access to the files that a scenario names. The caller implements this trait, because this crate opens no
/// files.
pub trait Files {
    /// Returns the text of `file`.
    fn text(&self, file: &str) -> io::Result<String>;

    /// Returns a reader of the decompressed bytes of the trace `file`, which is a path or the name of a
    /// built-in trace.
    fn trace(&self, file: &str) -> io::Result<Box<dyn BufRead + Send>>;

    /// Returns the names of the built-in traces.
    fn shipped_traces(&self) -> Vec<String>;

    /// Returns the memory that a stack may use, or `None` if it is unknown.
    fn memory(&self) -> Option<HostMemory> {
        None
    }

    /// Returns a new instance of the user's cleaning policy `name`, or `None` if there is no such policy.
    fn cleaner(&self, _name: &str) -> Option<Box<dyn Cleaner>> {
        None
    }

    /// Returns a constructor of the user's replacement policy `name`, or `None` if there is no such policy.
    fn replacement(&self, _name: &str) -> Option<Brought> {
        None
    }

    /// Returns the user's placement function `name`, or `None` if there is no such function.
    fn decider(&self, _name: &str) -> Option<Box<dyn Decider>> {
        None
    }
}

/// The memory of the computer that runs the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMemory {
    /// Free memory in bytes.
    pub free: u64,
    /// Installed memory in bytes, i.e. the upper limit of `free`.
    pub all: u64,
    /// Address space in bytes that the process may still reserve, or `None` if it is not limited.
    pub address_space: Option<u64>,
}

/// A scenario that is ready to run.
pub struct Built {
    /// Device that serves the requests.
    pub device: Box<dyn event::Device>,
    /// The workload.
    pub workload: Box<dyn Workload>,
    /// Workload for preconditioning, if required. It is either the measured workload with separate random
    /// streams, or another workload.
    pub preconditioning: Option<Box<dyn Workload>>,
    /// Addresses that the workload may access, if the scenario fills its footprint.
    pub footprint: Option<Ranges>,
    /// The host between workload and device, if the scenario has one.
    pub(crate) host: Option<Host>,
    /// Number of components of the device and the host.
    pub components: usize,
}

/// Builds the components of `checked` for a run on a new stack. Returns an error e.g. if a file is missing
/// or if sizes are inconsistent.
pub fn build(checked: &Checked, files: &dyn Files) -> Result<Built, Problems> {
    build_watched(checked, files, true, &mut |_| ControlFlow::Continue(()))
}

/// Like [`build`], with a progress callback. Some components need the whole workload in advance. If `watch`
/// stops reading it, these components use only the part that was read. `is_new` states whether the run
/// starts with a new stack.
pub(crate) fn build_watched(
    checked: &Checked,
    files: &dyn Files,
    is_new: bool,
    watch: &mut Watch<'_>,
) -> Result<Built, Problems> {
    let mut builder = StackBuilder::new(checked, files);
    builder.watch = Some(watch);
    let host = checked.scenario.host.clone().map(|config| (builder.component(), config));
    let slot = &checked.scenario.workload;
    let workload = builder.workload(slot);
    let writers = workload.and_then(|workload| {
        let preconditioning = builder.preconditioning()?;
        Ok(Writers { workload, preconditioning, is_new })
    });
    let problem = writers.map(|writers| builder.writers = Some(writers));
    let (device, ()) = both(builder.device(&checked.scenario.stack), problem)?;
    let Writers { workload, preconditioning, .. } = builder.writers.take().expect("the workloads were built");
    if let Some(capacity) = device.capacity() {
        check_reach(&*workload, slot, capacity)?;
        if let (CountOr::Model(slot), Some(writes)) = (&checked.run.precondition, &preconditioning) {
            check_reach(&**writes, slot, capacity)?;
        }
    }
    if device.zones().is_none() && host.as_ref().is_some_and(|(_, config)| config.needs_zones()) {
        return Err(without_zones(checked));
    }
    let footprint = match &checked.run.fill {
        Some(fill) if fill.of == FillOf::Footprint => Some(builder.footprint(slot, &*workload)?),
        _ => None,
    };
    let host = host.map(|(id, config)| Host::new(id, config, workload.tenants().len()));
    Ok(Built { device, workload, preconditioning, footprint, host, components: builder.components })
}

/// Builds the stack of `checked` without its workload and without data. Returns an error if the stack
/// cannot be built.
pub fn build_alone(checked: &Checked, files: &dyn Files) -> Result<Box<dyn event::Device>, Problems> {
    StackBuilder::new(checked, files).device(&checked.scenario.stack)
}

/// Returns an error if the last address of the workload is known and is past the end of the stack.
fn check_reach(
    workload: &dyn Workload,
    slot: &Slot<WorkloadFamily>,
    capacity: Bytes,
) -> Result<(), Problems> {
    let Some(reach) = workload.reach().filter(|&reach| reach > capacity.0) else { return Ok(()) };
    let problem = format!("it reaches to byte {reach}, but the stack ends at byte {}", capacity.0);
    Err(Problem::new(ErrorCode::PastTheEnd, slot.path(), None, problem)
        .data("end", reach)
        .data("capacity", capacity.0)
        .remedy("use a larger device or a smaller footprint")
        .into())
}

/// Returns the layouts of the stores that the stack of `checked` needs for its data, with the paths of
/// their devices, in the order in which the devices request them. Returns an error if the stack cannot be
/// built.
pub fn store_layouts(checked: &Checked, files: &dyn Files) -> Result<Vec<(String, Layout)>, Problems> {
    let mut builder = StackBuilder::new(checked, files);
    builder.stores = Stores::Wanted(Vec::new());
    builder.device(&checked.scenario.stack)?;
    let Stores::Wanted(layouts) = builder.stores else { unreachable!("it stays what it was") };
    Ok(layouts)
}

/// Builds the stack of `checked` without its workload. The devices keep their data in `stores`, which must
/// be empty and match [`store_layouts`]. Returns an error if a device of the stack stores no data or has no
/// capacity limit, or the stack cannot be built.
pub fn build_with_bytes(
    checked: &Checked,
    files: &dyn Files,
    stores: Vec<Box<dyn Pages>>,
) -> Result<Box<dyn event::Device>, Problems> {
    let mut builder = StackBuilder::new(checked, files);
    builder.stores = Stores::Given(stores.into_iter());
    let device = builder.device(&checked.scenario.stack)?;
    builder.check_bytes(device.capacity()).map(|()| device)
}

/// Returns the error for a zoned device below another device.
fn in_order(path: &str) -> Problems {
    let problem = "a device with zones is written sequentially, but the device over it writes at random";
    let remedy = "use kind = \"ssd\", or make this device the stack";
    Problem::new(ErrorCode::ConflictingSettings, &format!("{path}.kind"), None, problem).remedy(remedy).into()
}

/// Returns the error for a host that writes zones to a stack without zones.
fn without_zones(checked: &Checked) -> Problems {
    let path = "host.zone_writes";
    let resolved = checked.resolved.iter().find(|resolved| resolved.path == path);
    let problem = format!("the stack, {}, has no zones", checked.scenario.stack.kind());
    Problem::new(ErrorCode::ConflictingSettings, path, resolved.map(|of| &of.node.origin), problem)
        .remedy("use stack.kind = \"zns_ssd\", or remove it")
        .into()
}

/// Source of the stores for the data of a stack.
enum Stores {
    /// The simulated stack stores no data.
    None,
    /// Layouts of the requested stores are being collected.
    Wanted(Vec<(String, Layout)>),
    /// Stores in the order in which they are requested.
    Given(std::vec::IntoIter<Box<dyn Pages>>),
}

/// Evaluates every mix of the tiers of `checked` in which each share of the capacity is a multiple of
/// 1/`steps`. Extents are placed optimally for the whole workload. Returns `None` if `watch` stopped
/// reading the workload. Returns an error if the stack is not `tiers`, the workload never ends or cannot be
/// read, or there are too many steps.
pub fn mixes(
    checked: &Checked,
    files: &dyn Files,
    steps: u32,
    watch: &mut Watch<'_>,
) -> Result<Option<Mixes>, Problems> {
    let mut builder = StackBuilder::new(checked, files);
    builder.watch = Some(watch);
    let mixes = nacre_hierarchy::tiers::mixes::mixes(&checked.scenario.stack, &mut builder, steps)?;
    Ok((!builder.was_stopped).then_some(mixes))
}

/// Returns, for each part of the trace of `checked`, its volumes or extents, and its number of requests.
/// Returns `None` if `watch` stopped reading the trace.
pub(crate) fn shares(
    checked: &Checked,
    files: &dyn Files,
    (by, parts): (By, Option<u32>),
    first: First,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Shares>, Problems> {
    let mut builder = StackBuilder::new(checked, files);
    nacre_workload::replay::shares(&checked.scenario.workload, &mut builder, by, parts, first, watch)
}

pub(crate) struct StackBuilder<'a, 'w> {
    checked: &'a Checked,
    models: Models,
    streams: Streams,
    /// Prefix of the names of the random streams that a workload uses.
    draws: &'static str,
    files: &'a dyn Files,
    components: usize,
    stores: Stores,
    /// Paths and kinds of devices that store no data, in the order in which they were built.
    without_bytes: Vec<(String, &'static str)>,
    /// Paths and kinds of devices without a capacity limit, children before parents.
    without_end: Vec<(String, &'static str)>,
    /// Path of the zoned device that was built last, until a parent accepts it.
    zoned: Option<String>,
    watch: Option<&'w mut Watch<'w>>,
    was_stopped: bool,
    /// Memory that was free before the first device was built. The outer `None` means not determined yet; the
    /// inner one means unknown.
    host_memory: Option<Option<HostMemory>>,
    memory: TakenMemory,
    /// Workloads of the run, or `None` if other requests may be submitted.
    writers: Option<Writers>,
}

impl<'a> StackBuilder<'a, '_> {
    pub(crate) fn new(checked: &'a Checked, files: &'a dyn Files) -> Self {
        StackBuilder {
            checked,
            models: Models::new(),
            streams: Streams::new(checked.run.seed),
            draws: "",
            files,
            components: 0,
            stores: Stores::None,
            without_bytes: Vec::new(),
            without_end: Vec::new(),
            zoned: None,
            watch: None,
            was_stopped: false,
            host_memory: None,
            memory: TakenMemory::default(),
            writers: None,
        }
    }

    /// Builds the workload for preconditioning, if required.
    fn preconditioning(&mut self) -> Result<Option<Box<dyn Workload>>, Problems> {
        if !self.checked.run.takes_writes() {
            return Ok(None);
        }
        let slot = match &self.checked.run.precondition {
            CountOr::Count(_) => &self.checked.scenario.workload,
            CountOr::Model(slot) => slot,
        };
        let draws = std::mem::replace(&mut self.draws, "precondition.");
        let workload = self.workload(slot);
        self.draws = draws;
        workload.map(Some)
    }

    /// Returns the addresses that `workload`, built from `slot`, may access. If they can be determined only
    /// by reading the workload, reads a second instance.
    fn footprint(
        &mut self,
        slot: &Slot<WorkloadFamily>,
        workload: &dyn Workload,
    ) -> Result<Ranges, Problems> {
        if let Some(bytes) = workload.footprint() {
            return Ok(bytes);
        }
        let draws = std::mem::take(&mut self.draws);
        let read = self.workload(slot)?;
        self.draws = draws;
        let mut watch = |progress| {
            let answer = self.watch.as_mut().map_or(ControlFlow::Continue(()), |watch| watch(progress));
            self.was_stopped |= answer.is_break();
            answer
        };
        accesses::footprint(read, self.checked.run.requests, &mut watch)
    }
}

impl StackBuilder<'_, '_> {
    /// Records the device in `slot` if it stores no data or has no capacity limit.
    fn note_limits(
        &mut self,
        slot: &Slot<DeviceFamily>,
        capabilities: Capabilities,
        capacity: Option<Bytes>,
    ) {
        let kind = models::device(slot.kind()).descriptor.kind;
        if !capabilities.carries_bytes {
            self.without_bytes.push((slot.path().to_string(), kind));
        }
        if capacity.is_none() {
            self.without_end.push((slot.path().to_string(), kind));
        }
    }

    /// Returns an error if a device of the stack stores no data or has no capacity limit. `capacity` is the
    /// capacity of the stack.
    fn check_bytes(&self, capacity: Option<Bytes>) -> Result<(), Problems> {
        match self.without_bytes.first() {
            None if capacity.is_none() => {
                let (path, kind) = self.without_end.first().expect("the stack is one of them");
                let problem = "a device of fixed size is required, and this one has no capacity";
                let remedy = format!("set its capacity, e.g. {path}.capacity = \"1 GiB\"");
                let problem = Problem::new(ErrorCode::MissingSetting, path, None, problem).given(*kind);
                Err(problem.remedy(remedy).into())
            }
            None => Ok(()),
            Some((path, kind)) => {
                let problem = "this device does not store data";
                let problem = Problem::new(ErrorCode::NotSupported, path, None, problem).given(*kind);
                Err(problem.remedy("use another device there").into())
            }
        }
    }
}

impl Builder for StackBuilder<'_, '_> {
    fn families(&self) -> &dyn Families {
        &self.models
    }

    fn component(&mut self) -> ComponentId {
        assert!(self.components < PARTS_MAX, "the scenario's check lets no more than {PARTS_MAX} pass");
        self.components += 1;
        ComponentId((self.components - 1) as u8)
    }

    fn device(&mut self, slot: &Slot<DeviceFamily>) -> Result<Box<dyn event::Device>, Problems> {
        let model = models::device(slot.kind());
        let sibling = self.zoned.take();
        let device = (model.build)(slot, self)?;
        match (device.zones().is_some(), self.zoned.take()) {
            (true, _) => self.zoned = Some(slot.path().to_string()),
            (false, Some(below)) => return Err(in_order(&below)),
            (false, None) => self.zoned = sibling,
        }
        self.note_limits(slot, device.capabilities(), device.capacity());
        Ok(device)
    }

    fn store(&mut self, path: &str, layout: Layout) -> Option<Box<dyn Pages>> {
        match &mut self.stores {
            Stores::None => None,
            Stores::Wanted(layouts) => {
                layouts.push((path.to_string(), layout));
                None
            }
            Stores::Given(stores) => Some(stores.next().expect("as many as were wanted")),
        }
    }

    fn random(&self, name: &str) -> Random {
        self.streams.stream(name)
    }

    fn text_file(&mut self, path: &str, file: &str) -> Result<String, Problems> {
        self.files.text(file).map_err(|error| file_problem(path, file, &error).into())
    }

    fn idle(&mut self, slot: &Slot<DeviceFamily>, bytes: u32) -> Result<Idle, Problems> {
        let mut aside = StackBuilder::new(self.checked, self.files);
        let mut device = aside.device(slot)?;
        if device.zones().is_some() {
            return Err(in_order(slot.path()));
        }
        let mut random = self.streams.stream(&format!("idle.{}", slot.path()));
        Ok(Idle::of(&mut *device, bytes, &mut random))
    }

    fn accesses(
        &mut self,
        path: &str,
        extent: Bytes,
        extents: u32,
    ) -> Result<Vec<Vec<SizedAccesses>>, Problems> {
        let mut aside = StackBuilder::new(self.checked, self.files);
        let mut workload = aside.workload(&self.checked.scenario.workload)?;
        let ends = workload.expected() != Some(u64::MAX) || self.checked.run.requests.is_some();
        if ends {
            let capacity = Bytes(extent.0 * u64::from(extents));
            check_reach(&*workload, &self.checked.scenario.workload, capacity)?;
        }
        let space = accesses::Space { path, extent, extents };
        let mut watch = |progress| {
            let answer = self.watch.as_mut().map_or(ControlFlow::Continue(()), |watch| watch(progress));
            self.was_stopped |= answer.is_break();
            answer
        };
        accesses::count(&mut *workload, self.checked.run.requests, &space, &mut watch)
    }

    fn take_memory(&mut self, path: &str, bytes: u64) -> Result<(), Problems> {
        self.take_memory_as_touched(path, TableMemory { at_once: bytes, in_all: bytes, in_run: bytes })
    }

    fn take_memory_as_touched(&mut self, path: &str, tables: TableMemory) -> Result<(), Problems> {
        let files = self.files;
        let host = *self.host_memory.get_or_insert_with(|| files.memory());
        self.memory.take(path, tables, self.checked.run.share_written_before(), host)
    }

    fn units_in_run(&self, path: &str, unit: Bytes, capacity: Bytes) -> Option<UnitsInRun> {
        let serves_host = path == self.checked.scenario.stack.path();
        self.writers.as_ref().filter(|_| serves_host)?.units_in_run(self.checked, unit, capacity)
    }

    fn external_policy(&mut self, family: &str, path: &str, name: &str) -> Result<Box<dyn Any>, Problems> {
        let brought = match family {
            CleaningFamily::NAME => self.files.cleaner(name).map(|found| Box::new(found) as Box<dyn Any>),
            ReplacementFamily::NAME => {
                self.files.replacement(name).map(|found| Box::new(found) as Box<dyn Any>)
            }
            PlacementFamily::NAME => self.files.decider(name).map(|found| Box::new(found) as Box<dyn Any>),
            _ => None,
        };
        brought.ok_or_else(|| {
            let setting = path.trim_end_matches(".function");
            Problem::new(ErrorCode::NoFunction, path, None, "no function was given under this name")
                .given(format!("{name:?}"))
                .remedy(format!(
                    "in Python, give the function itself: nacre.run(scenario, {{{setting:?}: function}})"
                ))
                .into()
        })
    }
}
