//! Tests that the state of a run without data continues as a memory with data, and that the state of a memory
//! continues as a run. Covers every device of the catalog and composite stacks.

use super::{Folder, NoFiles};
use crate::memory::Memory;
use crate::persistent_device::PersistentDevice;
use crate::{Access, check, stores};
use nacre_kernel::event::{Completed, Completions, Device, Payload, RequestId};
use nacre_kernel::{Op, Random, Request, Streams, Time};
use nacre_machine::stack::{build_alone, build_with_bytes, store_layouts};
use nacre_machine::{Checked, Document, Files, HostMemory, SavedRun, Span, catalog, run_span};
use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Number of bytes that the runs write and the tests compare.
const FOOTPRINT: u64 = 1 << 20;
const WORKLOAD: &str = "{ kind = \"uniform\", requests = 1_000, footprint = \"1 MiB\", read_share = \"30 %\", \
    request = \"4 KiB\", arrival = { kind = \"closed\" } }";

fn scenario(name: &str, text: &str, settings: &[(&str, &str)]) -> Checked {
    let own = |&(path, value): &(&str, &str)| (path.to_string(), value.to_string());
    let mut overrides: Vec<(String, String)> = settings.iter().map(own).collect();
    overrides.push(("workload".into(), WORKLOAD.into()));
    check(&Document { text, name, overrides: &overrides, seed: None })
        .unwrap_or_else(|problems| panic!("{name}: {problems}"))
}

/// Every device of the catalog. Flash drives have fewer blocks, because the tables of whole drives take
/// gigabytes.
fn presets() -> Vec<(&'static str, Checked)> {
    let devices = catalog::entries().into_iter().filter(|entry| entry.family == "device");
    let checked = devices.map(|entry| {
        let settings = [
            ("blocks", ("stack.blocks", "192")),
            ("pages", ("stack.pages", "4")),
            ("spare_blocks", ("stack.spare_blocks", "4")),
            ("slc_cache", ("stack.slc_cache.size", "4 MB")),
            // The memory's data are zeros, and zeros are faster to program.
            ("program_zeros", ("stack.zero_words", "100 %")),
        ];
        let has = |key: &str| entry.settings.get(key).is_some();
        let mut smaller: Vec<_> =
            settings.into_iter().filter(|(key, _)| has(key)).map(|(_, setting)| setting).collect();
        if has("segments") {
            smaller.push(("stack.segments", "32"));
        }
        // A device with only latencies has no capacity.
        let kind = entry.settings.get("kind").and_then(|kind| kind.text());
        if matches!(kind, Some("measured" | "network")) && !has("capacity") {
            smaller.push(("stack.capacity", "1 GiB"));
        }
        let text = format!("[stack]\npreset = \"{}\"\n", entry.name);
        (entry.name, scenario(entry.name, &text, &smaller))
    });
    checked.collect()
}

/// Scenarios that ship with Nacre and have caches or tiers.
fn stacks() -> Vec<(&'static str, Checked)> {
    let run = [("run.requests", "1000"), ("run.warm_up", "0")];
    let shipped = catalog::scenarios().into_iter().filter(|scenario| scenario.text.contains("_cache\""));
    let checked = shipped.map(|shipped| {
        let mut settings = run.to_vec();
        if shipped.text.contains("\"network_store\"") {
            settings.push(("stack.backing.capacity", "1 GiB"));
        }
        (shipped.name, scenario(shipped.name, shipped.text, &settings))
    });
    checked.collect()
}

fn ran(checked: &Checked, from: Option<&SavedRun<'_>>) -> Vec<u8> {
    let span = Span { from, saves: true, preparations: None, second_thread: None };
    let ran = run_span(checked, &NoFiles, &span, &mut |_| ControlFlow::Continue(()));
    ran.unwrap_or_else(|problems| panic!("{problems}")).state.expect("the run came to its end")
}

fn any_request(random: &mut Random, arrival: Time) -> Request {
    let op = [Op::Read, Op::Write, Op::Write, Op::Trim, Op::Flush][random.below(5) as usize];
    let bytes = if op == Op::Flush { 0 } else { 512 * (1 + random.below(24) as u32) };
    let address = if op == Op::Flush { 0 } else { random.below(FOOTPRINT / 512 - 24) * 512 };
    Request { arrival, address, bytes, volume: 0, op }
}

/// Starts a device with data and a device without data from `saved`, and checks that both complete the same
/// requests at the same times. All data must read as zeros.
fn answers_alike(name: &str, checked: &Checked, saved: &SavedRun<'_>) {
    let mut without = build_alone(checked, &NoFiles).expect("it was built before");
    let layouts = store_layouts(checked, &NoFiles).expect("it was built before");
    let mut with =
        build_with_bytes(checked, &NoFiles, stores::in_memory(&layouts)).expect("it carries bytes");
    let mut now = saved.restore_device(checked, &NoFiles, &mut *without).expect("its own state");
    saved
        .restore_device(checked, &NoFiles, &mut *with)
        .unwrap_or_else(|problems| panic!("{name}: {problems}"));
    let mut random = Streams::new(3).stream(name);
    for id in 0..400 {
        let request = any_request(&mut random, now);
        let data = match request.op {
            Op::Write => vec![0; request.bytes as usize].into(),
            _ => Payload::NONE,
        };
        let expected = completions_of(&mut *without, now, id, &request, Payload::NONE);
        let found = completions_of(&mut *with, now, id, &request, data);
        assert_eq!(times(&found), times(&expected), "{name}: {request:?}");
        let read = found.iter().filter_map(|completed| completed.data.bytes());
        let are_zero = read.flatten().all(|&byte| byte == 0);
        assert!(are_zero, "{name}: what a run wrote reads as zero");
        now += Time::from_us(random.below(300));
    }
}

/// Submits a request to the device at `now`. Returns the completions before `now`.
fn completions_of(
    device: &mut dyn Device,
    now: Time,
    id: u32,
    request: &Request,
    data: Payload,
) -> Vec<Completed> {
    let mut all = Vec::new();
    loop {
        let mut completions = Completions::new();
        device.run(now, &mut completions);
        if completions.is_empty() {
            break;
        }
        all.extend(completions.iter().cloned());
    }
    device.submit(now, RequestId(id), request, data);
    all
}

fn times(completed: &[Completed]) -> Vec<(Time, RequestId, bool)> {
    completed.iter().map(|of| (of.at, of.id, of.status == nacre_kernel::Status::Done)).collect()
}

/// Checks that a memory in an image starts from `state` and keeps later writes across kills and power losses,
/// and that a run continues from this memory.
fn continues_as_memory(name: &str, checked: &Checked, state: &[u8]) {
    let folder = Folder::new();
    let place = folder.0.join("x.nacre");
    let mut memory = Memory::open_from(checked, &NoFiles, Some((&place, true)), state)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(memory.now() > Time::ZERO, "{name}: time continues where the run stood");
    let (mut expected, mut random) =
        (vec![0; FOOTPRINT as usize], Streams::new(5).stream(&format!("memory {name}")));
    for round in 0..4_u8 {
        let found = memory.read(0, FOOTPRINT).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(found == expected, "{name}: the bytes in round {round}");
        for _ in 0..12 {
            let (from, count) = (random.below(FOOTPRINT - 9000), 1 + random.below(9000));
            let data = vec![random.below(256) as u8; count as usize];
            memory.write(from, &data).unwrap_or_else(|error| panic!("{name}: {error}"));
            expected[from as usize..(from + count) as usize].copy_from_slice(&data);
        }
        memory.flush().unwrap();
        if round % 2 == 0 {
            memory.power_fail().unwrap();
            memory.recover().unwrap();
        } else {
            // A kill loses no data.
            drop(memory);
            memory = Memory::open_image(checked, &NoFiles, &place, true).unwrap();
        }
    }
    memory.close().unwrap();
    let onwards = PersistentDevice::open(checked, &NoFiles, &place, Access::READ_ONLY)
        .unwrap()
        .saved_run(checked)
        .unwrap();
    let onwards = SavedRun::read(&onwards).expect("it was just made");
    ran(checked, Some(&onwards));
}

#[test]
fn every_state_of_a_run_is_one_of_a_memory_and_the_other_way_round() {
    let all: Vec<_> = presets().into_iter().chain(stacks()).collect();
    assert!(all.len() >= 26, "{} stacks", all.len());
    for (name, checked) in &all {
        let state = ran(checked, None);
        let saved = SavedRun::read(&state).expect("it was just made");
        answers_alike(name, checked, &saved);
        continues_as_memory(name, checked, &state);
    }
}

/// Host on which another process replaces the new image with a symbolic link. Afterwards, the host has no
/// free memory, so that opening fails.
struct Meanwhile(PathBuf);

impl Files for Meanwhile {
    fn text(&self, file: &str) -> io::Result<String> {
        NoFiles.text(file)
    }

    fn trace(&self, file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        NoFiles.trace(file)
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }

    fn memory(&self) -> Option<HostMemory> {
        if !self.0.exists() {
            return None;
        }
        std::fs::remove_file(&self.0).unwrap();
        std::os::unix::fs::symlink("mine", &self.0).unwrap();
        Some(HostMemory { free: 0, all: 0, address_space: None })
    }
}

#[test]
fn what_has_come_to_the_place_of_a_begun_image_meanwhile_stays() {
    let (_, checked) = &stacks()[0];
    let state = ran(checked, None);
    let folder = Folder::new();
    let place = folder.0.join("x.nacre");
    let begun = Memory::open_from(checked, &Meanwhile(place.clone()), Some((&place, true)), &state);
    assert!(begun.is_err(), "there is no memory for it");
    assert_eq!(place.read_link().unwrap().as_os_str(), "mine");
}
