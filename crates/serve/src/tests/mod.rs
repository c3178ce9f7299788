//! Tests of served devices on real files, with a clock that the test controls. The tests check the returned
//! data and the effects of power losses.

mod early;
mod failing;
mod faults;
mod images;
mod interrupted;
mod kills;
mod raw_faults;
mod same_bytes;
mod steps;

use crate::model::{HostRequest, Model, Outcome, Payload, Since, Timing};
use crate::offer::{Offer, ServeError};
use crate::opening::open;
use crate::serving::{Body, Disk};
use crate::transport::Transport;
use nacre_kernel::{Op, Time};
use nacre_machine::{Checked, Document, Files};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const EMULATED: Timing = Timing::Emulated { dilation: 1.0, since: Since::Arrival };

/// A device whose requests take 10 us each and are served sequentially.
const PLAIN: &str = "kind = \"measured\"\ncapacity = \"64 KiB\"\nread = \"10 us\"\nwrite = \"10 us\"";
/// A disk that acknowledges writes in its cache.
const CACHED_DISK: &str = "kind = \"hdd\"\ncapacity = \"1 MiB\"\nrotation = \"15000 /min\"\nheads = 1\n\
    track_to_track_seek = \"0.2 ms\"\naverage_seek = \"3.4 ms\"\nfull_stroke_seek = \"6.6 ms\"\n\
    outer_rate = \"200 MB/s\"\ninner_rate = \"120 MB/s\"\nwrite_cache = \"256 KiB\"";
/// A device whose stored energy suffices for six programs on five chips.
const SHORT_ONYX: &str = "kind = \"onyx\"\ncontrollers = 2\nranks = 2\nrow_ranks = 2\nchip = \"4 KiB\"\n\
    row = \"1 KiB\"\nbuffered_writes = 16\n\
    wear_leveling = { kind = \"start_gap\", interval = 2, domains = 2, randomize = true }\n\
    program_energy = \"1 uJ\"\ncapacitors = \"30 uJ\"\nmay_lose_writes = true";
const BARE_SSD: &str = "preset = \"tlc_nvme\"\nchannels = 1\nways = 1\nplanes = 1\nblocks = 40\npages = 24\n\
    spare_blocks = 0\nfactory_bad = \"0 %\"\nbuffer = \"256 KiB\"\nover_provisioning = \"30 %\"\n\
    power_protected = false";
const ENVY: &str = "kind = \"envy\"\nsegments = 8\nsegment = \"64 KiB\"\npage = \"64 B\"\nbanks = 1\n\
    buffer = \"4 KiB\"\nutilization = \"50 %\"\nthreshold = \"50 %\"\ncleaning = \"greedy\"";

struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _file: &str) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn trace(&self, _file: &str) -> io::Result<Box<dyn BufRead + Send>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn shipped_traces(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Temporary folder of a test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nacre-serve-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("the folder for temporary files can be written");
        Folder(path)
    }

    fn image(&self) -> PathBuf {
        self.0.join("x.image")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("it is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("it can be read").file_name().into_string().expect("ASCII"))
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn checked_with(stack: &str, seed: u64) -> Checked {
    let text = format!("schema = 1\nname = \"test\"\n[run]\nseed = {seed}\n[stack]\n{stack}\n");
    let document = Document { text: &text, name: "test.toml", overrides: &[], seed: None };
    nacre_memory::check(&document).unwrap_or_else(|problems| panic!("{problems}"))
}

fn checked(stack: &str) -> Checked {
    checked_with(stack, 3)
}

/// Returns a stack with two tiers: a small, fast device and a disk with a write cache.
fn tiers() -> String {
    let inline = |table: &str| format!("{{ {} }}", table.replace('\n', ", "));
    let fast = "kind = \"measured\"\nread = \"5 us\"\nwrite = \"10 us\"\ncapacity = \"256 KiB\"";
    format!(
        "kind = \"tiers\"\nextent = \"64 KiB\"\nchunk = \"8 KiB\"\nmigration_bandwidth = \"1 GB/s\"\n\
         placement = {{ kind = \"dynamic\", epoch = \"500 us\", least_saving = \"0 s\", hysteresis = \"0 %\" }}\n\
         tier = [{{ device = {} }}, {{ device = {} }}]",
        inline(fast),
        inline(CACHED_DISK)
    )
}

fn offer(checked: Checked, image: &Path) -> Offer {
    Offer {
        name: "test".into(),
        description: String::new(),
        checked,
        files: Box::new(NoFiles),
        image: image.to_path_buf(),
        from: None,
        read_only: false,
    }
}

fn opened(offer: Offer, timing: Timing) -> Result<Disk, ServeError> {
    open(offer, timing, Transport::default()).map(|(disk, _)| disk)
}

/// Opens the device of `stack` for serving, with the image at `path`.
fn served(stack: &str, path: &Path) -> Disk {
    opened(offer(checked(stack), path), EMULATED).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error of opening `offer`.
fn refusal(offer: Offer, timing: Timing) -> String {
    match opened(offer, timing) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

impl Disk {
    fn model(&self) -> &Model {
        match &self.body {
            Body::Device(model) => model,
            Body::Raw(_) => panic!("no device is modeled"),
        }
    }

    fn write_at(&self, came: Time, offset: u64, bytes: &[u8]) -> Outcome {
        let asked = HostRequest { op: Op::Write, offset, bytes: bytes.len() as u32, forced: false };
        self.model().ask_at(came, asked, Payload::Write(bytes)).said
    }

    /// Submits a write at `came` without waiting for its completion.
    fn begin_write_at(&self, came: Time, offset: u64, bytes: &[u8]) {
        let asked = HostRequest { op: Op::Write, offset, bytes: bytes.len() as u32, forced: false };
        self.model().begin_at(came, asked, Payload::Write(bytes));
    }

    fn read_at(&self, came: Time, offset: u64, into: &mut [u8]) -> Outcome {
        let asked = HostRequest { op: Op::Read, offset, bytes: into.len() as u32, forced: false };
        let answer = self.model().ask_at(came, asked, Payload::None);
        if let Some(bytes) = answer.data.bytes() {
            into.copy_from_slice(bytes);
        }
        answer.said
    }

    fn ask_at(&self, came: Time, op: Op, offset: u64, bytes: u32) -> Outcome {
        let asked = HostRequest { op, offset, bytes, forced: false };
        self.model().ask_at(came, asked, Payload::None).said
    }

    /// Returns all data of the device, read in small parts after all earlier requests.
    fn bytes(&self) -> Vec<u8> {
        self.bytes_at(self.model().with(|device| device.until()))
    }

    /// Returns all data of the device, read in small parts from the time `now`.
    fn bytes_at(&self, now: Time) -> Vec<u8> {
        self.first_bytes_at(now, self.export.bytes as usize)
    }

    /// Returns the first `count` bytes of the device, read in small parts from the time `now`.
    fn first_bytes_at(&self, mut now: Time, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        for (number, part) in bytes.chunks_mut(1 << 16).enumerate() {
            now = self.read_at(now, (number as u64) << 16, part).done;
        }
        bytes
    }
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}
