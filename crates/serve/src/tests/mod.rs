//! Images on real files: what is torn, what is damaged, what comes back, what a loss of power takes.

mod failing;
mod journal;
mod mistakes;
mod power;
mod replay;
mod toy;

use crate::model::{HostRequest, Outcome, Timing};
use crate::opening::open;
use crate::server::{Offer, ServeError};
use crate::serving::Disk;
use crate::transport::Transport;
use nacre_kernel::{Device, Op, Status, Time};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const EMULATED: Timing = Timing::Emulated { dilation: 1.0 };
/// Where the journal of a toy begins in the file.
const JOURNAL: u64 = (1 << 20) + toy::BYTES;

/// A folder of its own for a test, gone afterwards.
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

fn offer(device: Box<dyn Device>, image: &Path) -> Offer {
    Offer {
        name: "test".into(),
        description: String::new(),
        device,
        identity: "stack.kind = toy\nrun.seed = 7".into(),
        seed: 7,
        image: image.to_path_buf(),
        read_only: false,
    }
}

fn opened(offer: Offer, timing: Timing) -> Result<(Disk, Vec<String>), ServeError> {
    open(offer, timing, Transport::default(), &mut |_| ControlFlow::Continue(()))
}

/// A toy in the image at `path`.
fn toy(path: &Path) -> Disk {
    toy_with(path, EMULATED)
}

fn toy_with(path: &Path, timing: Timing) -> Disk {
    opened(offer(Box::new(toy::Toy::default()), path), timing).expect("it is an image of a toy").0
}

/// What is said where a toy cannot be opened.
fn refusal(offer: Offer) -> String {
    match opened(offer, EMULATED) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

fn toy_refusal(path: &Path) -> String {
    refusal(offer(Box::new(toy::Toy::default()), path))
}

impl Disk {
    /// Asks as a client does, at a given time.
    fn ask_at(&self, came: Time, op: Op, offset: u64, bytes: u32, forced: bool) -> Outcome {
        let said = self.model.ask_at(came, HostRequest { op, offset, bytes, forced }, &self.image);
        self.image.commit().expect("there is room");
        said
    }

    fn write_at(&self, came: Time, offset: u64, bytes: &[u8]) -> Outcome {
        let said = self.ask_at(came, Op::Write, offset, bytes.len() as u32, false);
        assert_eq!(said.status, Status::Done);
        let range = offset..offset + bytes.len() as u64;
        self.replace(Some(said), range, || self.image.write(offset, bytes)).expect("there is room");
        said
    }

    fn flush_at(&self, came: Time) -> Outcome {
        let said = self.ask_at(came, Op::Flush, 0, 0, false);
        self.flush(Some(said)).expect("the disk works");
        said
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.export.bytes as usize];
        self.image.read(0, &mut bytes).expect("it is there");
        bytes
    }

    fn fail_at(&self, at: Time) -> crate::failing::Outage {
        let (failed, ready) = self.model.power_fail_at(at);
        self.lose_power(failed, ready).expect("there is room")
    }
}

/// Changes bytes of the file behind its user's back.
fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("it is there");
    file.write_all_at(bytes, at).expect("it can be written");
}

fn contents(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = std::fs::OpenOptions::new().read(true).open(path).expect("it is there");
    std::io::Read::read_to_end(&mut file, &mut bytes).expect("it can be read");
    bytes
}

fn us(us: u64) -> Time {
    Time::from_us(us)
}
