//! Checks that the simulator, a program's memory, and the server lose the same bytes of a device.

use super::{BARE_SSD, CACHED_DISK, ENVY, Folder, NoFiles, SHORT_ONYX, checked, served, tiers};
use crate::serving::Disk;
use nacre_config::Value;
use nacre_kernel::event::{Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Persistence, Random, Request, Streams, Time};
use nacre_machine::Checked;
use nacre_machine::catalog::{Entry, entries};
use nacre_machine::stack::{build_with_bytes, store_layouts};
use nacre_media::store::{self, Pages};
use nacre_memory::Memory;

/// An operation of the host.
#[derive(Clone, Debug)]
enum Act {
    Write(u64, Vec<u8>),
    Read(u64, u32),
    Flush,
    /// The process is killed.
    Kill,
    PowerFail,
}

fn acts(random: &mut Random, capacity: u64) -> Vec<Act> {
    let mut stamp = 0;
    let mut act = |number: u64| {
        if number % 40 == 39 {
            return Act::PowerFail;
        }
        let bytes = 512 * (1 + random.below(12));
        let address = random.below((capacity - bytes) / 512) * 512;
        match random.below(16) {
            0 => Act::Read(address, bytes as u32),
            1 => Act::Flush,
            2 => Act::Kill,
            _ => {
                stamp = stamp % 250 + 1;
                Act::Write(address, vec![stamp as u8; bytes as usize])
            }
        }
    };
    (0..160).map(&mut act).collect()
}

/// A simulated device with its data in memory. It is used only through the `Device` interface, as in a run.
struct Simulated {
    device: Box<dyn Device>,
    now: Time,
    ids: u32,
    failures: u64,
    seed: u64,
}

impl Simulated {
    fn new(checked: &Checked) -> Simulated {
        let layouts = store_layouts(checked, &NoFiles).expect("a legal stack");
        let memory = |page_bytes: u32| Box::new(store::Memory::new(page_bytes as usize)) as Box<dyn Pages>;
        let stores = layouts.iter().map(|(_, layout)| memory(layout.page_bytes)).collect();
        let device = build_with_bytes(checked, &NoFiles, stores).expect("it carries bytes");
        Simulated { device, now: Time::ZERO, ids: 0, failures: 0, seed: checked.run.seed }
    }

    fn capacity(&self) -> u64 {
        self.device.capacity().expect("it has an end").0
    }

    /// Processes events before `until`, up to the first completion.
    fn run(&mut self, until: Time) -> Completions {
        let mut completions = Completions::new();
        self.device.run(until, &mut completions);
        completions
    }

    fn begin(&mut self, op: Op, address: u64, bytes: usize, data: Payload) {
        while !self.run(self.now).is_empty() {}
        self.ids += 1;
        let request = Request { arrival: self.now, address, bytes: bytes as u32, volume: 0, op };
        self.device.submit(self.now, RequestId(self.ids), &request, data);
    }

    /// Submits a request and waits for it. Returns the data of a read.
    fn submit(&mut self, op: Op, address: u64, bytes: usize, data: Payload) -> Vec<u8> {
        self.begin(op, address, bytes, data);
        let completions = self.run(Time::MAX);
        let (completed, _) = completions.get(0);
        assert_eq!((completions.len(), completed.id.0), (1, self.ids));
        self.now = completed.at;
        completed.data.bytes().unwrap_or_default().to_vec()
    }

    /// Cuts power. Returns the number of lost bytes of acknowledged writes.
    fn power_fail(&mut self) -> u64 {
        let mut chance = Streams::new(self.seed).stream(&format!("power failure {}", self.failures));
        self.failures += 1;
        while !self.run(self.now).is_empty() {}
        self.device.power_fail(self.now, &mut chance);
        let recovery = self.device.recover(self.now);
        self.now = recovery.done;
        recovery.bytes_lost
    }

    /// Returns the first `reach` bytes, or all bytes if the device has fewer.
    fn bytes(&mut self, reach: u64) -> Vec<u8> {
        let mut bytes = vec![0; reach.min(self.capacity()) as usize];
        for (number, part) in bytes.chunks_mut(1 << 16).enumerate() {
            let read = self.submit(Op::Read, (number as u64) << 16, part.len(), Payload::NONE);
            part.copy_from_slice(&read);
        }
        bytes
    }
}

/// The simulator, the memory, and the server. Each of them receives the next operation after it has completed
/// the previous operation.
struct Drivers {
    checked: Checked,
    stack: String,
    folder: Folder,
    simulated: Simulated,
    memory: Option<Memory>,
    disk: Option<Disk>,
    now: Time,
}

impl Drivers {
    fn new(stack: &str) -> Drivers {
        let (checked, folder) = (checked(stack), Folder::new());
        let mut drivers = Drivers {
            simulated: Simulated::new(&checked),
            checked,
            stack: stack.into(),
            folder,
            memory: None,
            disk: None,
            now: Time::ZERO,
        };
        drivers.open();
        drivers
    }

    fn open(&mut self) {
        (self.memory, self.disk) = (None, None);
        let image = self.folder.0.join("memory.image");
        self.memory =
            Some(Memory::open_image(&self.checked, &NoFiles, &image, true).expect("it is an image"));
        self.disk = Some(served(&self.stack, &self.folder.image()));
    }

    fn act(&mut self, act: &Act) -> u64 {
        if let Act::Kill = act {
            // A kill loses reads after the last journal record, including their time. After a write, there
            // are no such reads.
            let settled = Act::Write(0, vec![7; 512]);
            self.act(&settled);
            self.open();
            return 0;
        }
        let (memory, disk) = (self.memory.as_mut().expect("open"), self.disk.as_ref().expect("open"));
        let mut lost = 0;
        match act {
            Act::Write(address, bytes) => {
                self.simulated.submit(Op::Write, *address, bytes.len(), bytes.clone().into());
                memory.write(*address, bytes).expect("it lies within");
                self.now = disk.write_at(self.now, *address, bytes).done;
            }
            Act::Read(address, bytes) => {
                let into = self.simulated.submit(Op::Read, *address, *bytes as usize, Payload::NONE);
                let mut other = vec![0; into.len()];
                self.now = disk.read_at(self.now, *address, &mut other).done;
                assert_eq!(other, into);
                assert_eq!(memory.read(*address, u64::from(*bytes)).expect("it lies within"), into);
            }
            Act::Flush => {
                // A memory flushes only devices that need it.
                if self.simulated.device.capabilities().persistence.needs_flush() {
                    self.simulated.submit(Op::Flush, 0, 0, Payload::NONE);
                    memory.flush().expect("the disk works");
                    self.now = disk.ask_at(self.now, Op::Flush, 0, 0).done;
                }
            }
            Act::PowerFail => {
                lost = self.simulated.power_fail();
                memory.power_fail().expect("it is on");
                assert_eq!(memory.recover().expect("it was off").bytes_lost, lost);
                let outage = disk.model().power_fail_at(self.now);
                assert_eq!(outage.bytes_lost, lost);
                self.now += outage.ready_after;
            }
            Act::Kill => unreachable!("it was seen to"),
        }
        let now = self.simulated.now;
        assert!((memory.now(), self.now) == (now, now), "{} and {}, not {now}", memory.now(), self.now);
        lost
    }

    /// Checks that the simulator, the memory, and the server have the same first `reach` bytes at the same
    /// time.
    fn check(&mut self, reach: u64) {
        let expected = self.simulated.bytes(reach);
        let memory = self.memory.as_mut().expect("open");
        for (number, part) in expected.chunks(1 << 16).enumerate() {
            let read = memory.read((number as u64) << 16, part.len() as u64).expect("it is there");
            assert!(read == part, "memory");
        }
        let disk = self.disk.as_ref().expect("open");
        assert!(disk.first_bytes_at(self.now, expected.len()) == expected, "served");
        self.now = self.simulated.now;
    }
}

#[test]
fn simulator_memory_and_server_lose_the_same_bytes_over_kills_and_losses_of_power() {
    let stacks = [(SHORT_ONYX, true), (BARE_SSD, true), (ENVY, false), (CACHED_DISK, true), (&tiers(), true)];
    for (stack, loses) in stacks {
        let lost = lost_by_all(stack, u64::MAX);
        assert_eq!(lost > 0, loses, "{lost} bytes lost of {stack}");
    }
}

/// Runs the same operations on the simulator, the memory, and the server, and compares the first `reach`
/// bytes after each power loss. Returns the number of lost bytes.
fn lost_by_all(stack: &str, reach: u64) -> u64 {
    let mut drivers = Drivers::new(stack);
    let capacity = drivers.simulated.capacity();
    let acts = acts(&mut Streams::new(5).stream("acts"), capacity.min(256 << 10));
    let mut lost = 0;
    for act in &acts {
        lost += drivers.act(act);
        if matches!(act, Act::PowerFail) {
            drivers.check(reach);
        }
    }
    lost
}

/// Returns settings that make the device of a catalog entry small. Unlimited devices get a capacity. Flash
/// drives, including their SLC caches, get fewer and smaller blocks, and eNVy gets fewer segments, because
/// their tables would otherwise take gigabytes.
fn smaller(entry: &Entry) -> &'static str {
    let Some(Value::Text(kind)) = entry.settings.get("kind").map(|kind| &kind.value) else { return "" };
    match kind.as_str() {
        "ssd" if entry.settings.get("slc_cache").is_some() => {
            "blocks = 192\npages = 24\nspare_blocks = 4\nslc_cache.size = \"64 MiB\""
        }
        "ssd" => "blocks = 192\npages = 24\nspare_blocks = 4",
        "measured" | "network" if entry.settings.get("capacity").is_none() => "capacity = \"1 MiB\"",
        "envy" => "segments = 8\nsegment = \"64 KiB\"\nbanks = 1\ncleaning.segments_per_partition = 4",
        _ => "",
    }
}

#[test]
fn every_device_of_the_catalog_loses_the_same_bytes_in_simulator_memory_and_server() {
    let devices: Vec<Entry> = entries().into_iter().filter(|entry| entry.family == "device").collect();
    assert!(devices.len() >= 20, "{} devices", devices.len());
    let mut losing = 0;
    for entry in devices {
        let stack = format!("preset = \"{}\"\n{}", entry.name, smaller(&entry));
        let lost = lost_by_all(&stack, 256 << 10);
        let persistence = Simulated::new(&checked(&stack)).device.capabilities().persistence;
        let guarantees = persistence == Persistence::OnAcknowledgement;
        assert!(lost == 0 || !guarantees, "{}: {lost} acknowledged bytes are lost", entry.name);
        losing += u64::from(lost > 0);
    }
    assert!(losing > 0, "no device loses what it may");
}

#[test]
fn with_many_requests_under_way_simulator_and_server_lose_the_same_bytes() {
    for stack in [SHORT_ONYX, BARE_SSD, ENVY, CACHED_DISK, &tiers()] {
        for depth in [1, 8, 32] {
            let (folder, checked) = (Folder::new(), checked(stack));
            let (mut simulated, disk) = (Simulated::new(&checked), served(stack, &folder.image()));
            let reach = disk.export.bytes.min(256 << 10) / 512 - 8;
            let mut random = Streams::new(depth).stream("requests");
            for round in 0..3 {
                for number in 0..depth {
                    let address = random.below(reach) * 512;
                    let bytes = vec![(round * depth + number + 1) as u8; 4096];
                    simulated.begin(Op::Write, address, bytes.len(), bytes.clone().into());
                    disk.begin_write_at(simulated.now, address, &bytes);
                    // The next request arrives before this request completes.
                    simulated.now += Time::from_us(random.below(20));
                }
                let at = simulated.now;
                let lost = simulated.power_fail();
                let outage = disk.model().power_fail_at(at);
                assert_eq!(outage.bytes_lost, lost);
                assert!(outage.under_way <= depth);
                let ready = simulated.now;
                let expected = simulated.bytes(u64::MAX);
                assert!(disk.bytes_at(ready) == expected, "{stack} at depth {depth}");
            }
        }
    }
}
