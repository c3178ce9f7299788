//! From an offer to a device that goes on where it stopped.

use crate::harm::{Harmed, UNIT};
use crate::image::{Entry, Image, ImageError, Problem, Wanted, What};
use crate::model::{Asking, HORIZON, HostRequest, Model, Timing};
use crate::recorder::Recorder;
use crate::server::{Offer, ServeError};
use crate::serving::Disk;
use crate::tally::Tally;
use crate::transport::Transport;
use crate::undo::Undo;
use nacre_kernel::{Op, Time};
use nacre_nbd::{BlockSizes, Export};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, RwLock};

/// The longest read or write, as clients are told.
const REQUEST_MAX: u32 = 32 << 20;
/// Requests that are played back between two looks at who watches.
const GLANCE: u64 = 1 << 14;

/// How far the journal of an image is played back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Entries so far.
    pub done: u64,
    /// All entries.
    pub total: u64,
}

/// Is told how far playing back is, and breaks to stop it.
pub type Watch<'a> = dyn FnMut(Replayed) -> ControlFlow<()> + 'a;

/// Opens the image of `offer` and brings the device into the state in which it stopped. Returns what its user
/// should know, too. Errors: nothing was changed.
pub(crate) fn open(
    offer: Offer,
    timing: Timing,
    transport: Transport,
    watch: &mut Watch<'_>,
) -> Result<(Disk, Vec<String>), ServeError> {
    let Offer { name, description, device, identity, seed, image: path, read_only } = offer;
    let bytes = device.capacity().ok_or(ServeError::NoSize)?.0;
    let wanted = Wanted { bytes, name: &name, identity: &identity, read_only };
    let wrong = |problem| ImageError { path: path.clone(), problem };
    let image = Image::open(&path, &wanted)?;
    let mut device = Asking::new(device);
    let asked = timing != Timing::None;
    let past = play_back(&image, bytes, asked.then_some(&mut device), watch).map_err(wrong)?;
    image.mend(&wanted, past.last).map_err(wrong)?;
    let notices =
        notices(&image, past.until).into_iter().map(|notice| format!("{}: {notice}", path.display()));
    let notices = notices.collect();
    let block = BlockSizes { minimum: 1, preferred: 4096, maximum: REQUEST_MAX };
    let disk = Disk {
        export: Export { name, description, bytes, read_only, rotational: false, block },
        image,
        model: Model::resume(device, timing, transport, past.until),
        tally: Tally::default(),
        recorder: Recorder::default(),
        seed,
        gate: RwLock::default(),
        undo: Mutex::new(Undo::default()),
        is_harmed: AtomicBool::new(!past.harmed.is_empty()),
        harmed: Mutex::new(past.harmed),
    };
    Ok((disk, notices))
}

/// What a journal says.
#[derive(Default)]
struct Past {
    harmed: Harmed,
    last: Option<Entry>,
    /// The latest time in it.
    until: Time,
}

/// Asks `device` what it was asked before; without one only what fails is found out.
fn play_back(
    image: &Image,
    bytes: u64,
    mut device: Option<&mut Asking>,
    watch: &mut Watch<'_>,
) -> Result<Past, Problem> {
    let total = image.found().entries;
    let mut past = Past::default();
    image.entries(&mut |number, entry| {
        if number.is_multiple_of(GLANCE) && watch(Replayed { done: number, total }).is_break() {
            return Err(Problem::Stopped);
        }
        let unfit = |detail| Problem::JournalUnfit { entry: number, detail };
        match entry.what {
            What::Request { op, forced } => {
                let offset = if op == Op::Flush { 0 } else { entry.address };
                if offset + u64::from(entry.length) > bytes {
                    return Err(unfit("it lies beyond the end"));
                }
                if entry.now < past.until {
                    return Err(unfit("it is older than the one before"));
                }
                if let Some(device) = &mut device {
                    device.submit(entry.now, HostRequest { op, offset, bytes: entry.length, forced });
                }
            }
            What::Harm(harm) => {
                let end = entry.address + u64::from(entry.length) * UNIT;
                past.harmed.apply(harm, entry.address..end);
            }
            What::PowerFailure => {}
        }
        past.until = past.until.max(entry.now);
        past.last = Some(entry);
        Ok(())
    })?;
    if past.until > HORIZON {
        return Err(Problem::EndOfTime { days: (past.until.as_secs_f64() / 86_400.0) as u64 });
    }
    Ok(past)
}

fn notices(image: &Image, until: Time) -> Vec<String> {
    let found = image.found();
    let mut notices = Vec::new();
    if found.torn > 0 {
        let (torn, entries) = (found.torn, found.entries);
        let then = if image.is_read_only() { "they are left out" } else { "they were cut off" };
        notices.push(format!(
            "the last {torn} bytes of its journal were torn when its server or the machine was stopped; {then}, and \
             the device continues from entry {entries}, at {until}"
        ));
    }
    if found.header_torn {
        let then = if image.is_read_only() { "serves" } else { "served to write it anew" };
        notices.push(format!("one copy of its header is damaged; the other one {then}"));
    }
    notices
}
