//! Tests that any stack with stored data works as a memory: flushed data survives power losses, kills, and
//! both.

use super::{Folder, NoFiles};
use crate::check;
use crate::memory::Memory;
use nacre_kernel::{Random, Streams, Time};
use nacre_machine::{Checked, Document};

const MEASURED: &str = "{ kind = \"measured\", read = \"5 us\", write = \"10 us\", capacity = \"256 KiB\" }";
const DISK: &str = "{ kind = \"hdd\", capacity = \"1 MiB\", rotation = \"15000 /min\", heads = 1, \
    track_to_track_seek = \"0.2 ms\", average_seek = \"3.4 ms\", full_stroke_seek = \"6.6 ms\", \
    outer_rate = \"200 MB/s\", inner_rate = \"120 MB/s\", write_cache = \"64 KiB\" }";

fn stack(text: &str) -> Checked {
    let text = format!("[stack]\n{text}");
    let document = Document { text: &text, name: "test.toml", overrides: &[], seed: None };
    check(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Stacks of several devices with pages of different sizes, in one image.
fn stacks() -> Vec<Checked> {
    let inside = |slot: &str| slot.trim_matches(['{', '}', ' ']).replace(", ", "\n");
    let envy = "{ kind = \"envy\", segments = 8, segment = \"64 KiB\", page = \"64 B\", banks = 1, \
        buffer = \"4 KiB\", utilization = \"50 %\", threshold = \"50 %\", cleaning = \"greedy\" }";
    vec![
        stack(&inside(MEASURED)),
        stack(&inside(DISK)),
        stack(&format!(
            "kind = \"tiers\"\nextent = \"64 KiB\"\nchunk = \"8 KiB\"\nmigration_bandwidth = \"1 GB/s\"\n\
             placement = {{ kind = \"dynamic\", epoch = \"500 us\", least_saving = \"0 s\", hysteresis = \"0 %\" }}\n\
             tier = [{{ device = {envy} }}, {{ device = {MEASURED} }}, {{ device = {DISK} }}]\n"
        )),
    ]
}

/// A memory in an image, and its expected data.
struct Pair {
    memory: Option<Memory>,
    bytes: Vec<u8>,
    random: Random,
    stamp: u8,
}

impl Pair {
    fn memory(&mut self) -> &mut Memory {
        self.memory.as_mut().expect("it is open")
    }

    fn write(&mut self) {
        self.stamp = self.stamp % 250 + 1;
        let (size, count) = (self.bytes.len() as u64, 1 + self.random.below(6000));
        let from = self.random.below(size - count);
        let data = vec![self.stamp; count as usize];
        self.memory().write(from, &data).expect("it lies within");
        self.bytes[from as usize..(from + count) as usize].copy_from_slice(&data);
    }

    fn check(&mut self) {
        let size = self.bytes.len() as u64;
        let read = self.memory().read(0, size).expect("it lies within");
        assert!(read == self.bytes, "the bytes of the memory and of the array");
    }
}

#[test]
fn what_was_flushed_survives_losses_of_power_and_kills_in_every_stack() {
    for (number, checked) in stacks().iter().enumerate() {
        let folder = Folder::new();
        let open = || Memory::open_image(checked, &NoFiles, &folder.0.join("x.nacre"), true).unwrap();
        let memory = open();
        let bytes = vec![0; memory.capacity() as usize];
        let random = Streams::new(7).stream(&format!("stack {number}"));
        let mut pair = Pair { memory: Some(memory), bytes, random, stamp: 0 };
        for _ in 0..60 {
            (0..4).for_each(|_| pair.write());
            match pair.random.below(4) {
                0 => {
                    pair.memory().flush().unwrap();
                    pair.memory().power_fail().unwrap();
                    pair.memory().recover().unwrap();
                }
                // A kill loses no data.
                1 => {
                    pair.memory = None;
                    pair.memory = Some(open());
                }
                2 => pair.memory().idle(Time::from_ms(3)).unwrap(),
                _ => {}
            }
            pair.check();
        }
    }
}
