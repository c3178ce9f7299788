//! Raw bytes without a device, which are served with [`Timing::None`](crate::model::Timing).

use crate::offer::{Offer, ServeError};
use crate::outage::io_error;
use nacre_image::{Geometry, Image, ImageError, Opened, Raw, Watch};
use nacre_kernel::Time;
use nacre_kernel::state::{State, StateReader, StateWriter};
use nacre_machine::identity::identity_with_files;
use nacre_machine::record::{StackReport, stack_report};
use nacre_memory::harm::{Harm, Harmed};
use nacre_memory::{PersistentDevice, Step};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};

/// Raw bytes in an image, with media errors. Any number of clients are served concurrently.
pub(crate) struct RawDisk {
    image: Image,
    pub(crate) bytes: Raw,
    harmed: Mutex<Harmed>,
    /// Whether there are media errors. Requests read this flag without taking the lock.
    is_harmed: AtomicBool,
    /// Gate for requests. Each request holds a read lock while it is served. Exclusive operations hold the
    /// write lock.
    pub(crate) gate: RwLock<()>,
    pub(crate) answered: AtomicU64,
    /// Report of the device in the scenario, which is not simulated.
    pub(crate) unused: StackReport,
    /// Whether the journal ended with an incomplete record when the image was opened.
    pub(crate) was_torn: bool,
}

impl RawDisk {
    /// Opens or creates the image of `offer`.
    pub(crate) fn open(offer: &Offer) -> Result<RawDisk, ServeError> {
        let Offer { checked, files, image: path, read_only, .. } = offer;
        let device = PersistentDevice::in_memory(checked, &**files)?;
        let (identity, geometry) = (identity_with_files(checked, &**files), Geometry::raw(device.capacity()));
        let opened = match read_only {
            true => Image::open_to_read(path, &identity, geometry),
            false => Image::open_or_create(path, &identity, geometry),
        }?;
        RawDisk::of(opened, path, &device)
    }

    /// Returns the raw bytes of the `opened` image at `path`. Their size is the capacity of `device`.
    pub(crate) fn of(opened: Opened, path: &Path, device: &PersistentDevice) -> Result<RawDisk, ServeError> {
        let Opened { image, state, records, torn } = opened;
        let mut harmed = Harmed::default();
        let unfit = |detail: String| ServeError::Unfit { path: path.into(), detail };
        if let Some(state) = state {
            let mut state = StateReader::new(&state);
            let restored = state.section("raw").and_then(|()| harmed.restore(&mut state));
            restored.and_then(|()| state.finish()).map_err(|error| unfit(error.to_string()))?;
        }
        for mut record in records.iter() {
            match Step::decode(&mut record) {
                Some((_, Step::Harm { harm, address, bytes })) => {
                    harmed.apply(harm, address..address.saturating_add(bytes));
                }
                _ => return Err(unfit("a record of its journal is not from a server with raw bytes".into())),
            }
        }
        Ok(RawDisk {
            bytes: image.raw(),
            image,
            is_harmed: AtomicBool::new(!harmed.is_empty()),
            harmed: Mutex::new(harmed),
            gate: RwLock::default(),
            answered: AtomicU64::new(0),
            unused: stack_report(device.device().report(Time::ZERO), Time::ZERO),
            was_torn: torn,
        })
    }

    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.bytes()
    }

    pub(crate) fn image(&self) -> &Image {
        &self.image
    }

    /// Returns whether a read of `range` fails because of a media error.
    pub(crate) fn fails_reads(&self, range: &Range<u64>) -> bool {
        self.is_harmed.load(Ordering::Acquire) && self.harmed().fails_reads(range)
    }

    /// Returns whether a write of `range` fails because of a media error.
    pub(crate) fn fails_writes(&self, range: &Range<u64>) -> bool {
        self.is_harmed.load(Ordering::Acquire) && self.harmed().fails_writes(range)
    }

    /// Clears the media errors of the sectors in `range`, which a write has overwritten.
    pub(crate) fn overwritten(&self, range: Range<u64>) -> io::Result<()> {
        if !self.is_harmed.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut harmed = self.harmed();
        if let Some(healed) = harmed.overwritten(range) {
            self.is_harmed.store(!harmed.is_empty(), Ordering::Release);
            self.note(&harmed, Harm::Heal, healed)?;
        }
        Ok(())
    }

    /// Injects or clears media errors of `range`.
    pub(crate) fn harm(&self, harm: Harm, range: Range<u64>) -> io::Result<()> {
        let mut harmed = self.harmed();
        let mut changed = harmed.clone();
        changed.apply(harm, range.clone());
        self.note(&changed, harm, range)?;
        *harmed = changed;
        self.is_harmed.store(!harmed.is_empty(), Ordering::Release);
        Ok(())
    }

    /// Copies the image to `to`. No request is served during the copy. Returns the disk space that the copy
    /// occupies, in bytes.
    pub(crate) fn copy_to(&self, to: &Path, watch: &mut Watch<'_>) -> Result<u64, ImageError> {
        let _alone = self.gate.write().expect("the lock is not poisoned");
        self.image.copy_to(to, watch)
    }

    fn note(&self, harmed: &Harmed, harm: Harm, range: Range<u64>) -> io::Result<()> {
        if self.image.wants_checkpoint() {
            let mut state = StateWriter::new();
            state.section("raw");
            harmed.save(&mut state);
            return self.image.checkpoint(&state.finish()).map_err(io_error);
        }
        let mut record = Vec::new();
        let step = Step::Harm { harm, address: range.start, bytes: range.end - range.start };
        step.encode(Time::ZERO.into(), &mut record);
        self.image.append(&record).map_err(io_error)
    }

    fn harmed(&self) -> std::sync::MutexGuard<'_, Harmed> {
        self.harmed.lock().expect("the lock is not poisoned")
    }
}
