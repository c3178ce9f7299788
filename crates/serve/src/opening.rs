//! Opening of a served device, which continues from its last state.

use crate::model::{Model, Timing};
use crate::offer::{Offer, ServeError};
use crate::raw::RawDisk;
use crate::recorder::Recorder;
use crate::serving::{Body, Disk};
use crate::tally::Tally;
use crate::transport::Transport;
use nacre_machine::SavedRun;
use nacre_memory::{Access, MemoryError, PersistentDevice, Step};
use nacre_nbd::{BlockSizes, Export};

/// Maximum size of a read or write in bytes. The server reports this limit to clients.
const REQUEST_MAX: u32 = nacre_memory::persistent_device::WRITE_MAX as u32;

/// Note for the user about an image whose journal ends within a record.
const TORN: &str = "the last journal record was incomplete (the server or machine was stopped) and was \
    discarded; the device continues from the intact records";

/// Opens the image of `offer` and restores the state of the device. Also returns notes for the user. If an
/// error is returned, the image is unchanged.
pub(crate) fn open(
    offer: Offer,
    timing: Timing,
    transport: Transport,
) -> Result<(Disk, Option<String>), ServeError> {
    let (body, bytes, was_torn) = match timing {
        Timing::None if offer.from.is_some() => return Err(ServeError::NothingModeled),
        Timing::None => {
            let raw = RawDisk::open(&offer)?;
            let bytes = raw.bytes();
            let was_torn = raw.was_torn;
            (Body::Raw(Box::new(raw)), bytes, was_torn)
        }
        Timing::Emulated { dilation, since } => {
            let device = opened(&offer)?;
            let (bytes, was_torn) = (device.capacity(), device.was_torn());
            (
                Body::Device(Box::new(Model::new(
                    device,
                    offer.checked.clone(),
                    (dilation, since),
                    transport,
                ))),
                bytes,
                was_torn,
            )
        }
    };
    let Offer { name, description, image, read_only, .. } = offer;
    let notice = was_torn.then(|| format!("{}: {TORN}", image.display()));
    let block = BlockSizes { minimum: 1, preferred: 4096, maximum: REQUEST_MAX };
    let disk = Disk {
        export: Export { name, description, bytes, read_only, rotational: false, block },
        body,
        tally: Tally::default(),
        recorder: Recorder::default(),
    };
    Ok((disk, notice))
}

/// Returns the device of `offer` with power on. An open transaction is rolled back.
fn opened(offer: &Offer) -> Result<PersistentDevice, MemoryError> {
    let Offer { checked, files, image, read_only, .. } = offer;
    let mut device = match &offer.from {
        Some(state) => {
            let saved = SavedRun::read(state).map_err(|why| MemoryError::NoState(why.to_string()))?;
            PersistentDevice::create_from(checked, &**files, image, true, &saved)?
        }
        None => {
            let access = Access { reads_only: *read_only, ..Access::default() };
            PersistentDevice::open(checked, &**files, image, access)?
        }
    };
    device.check_saves()?;
    let page_bytes = device.page_bytes();
    let change = |device: &mut PersistentDevice, step| {
        device.change(device.until(), step).map_err(|why| MemoryError::of(why, page_bytes))
    };
    if device.has_power() && device.is_in_transaction() {
        change(&mut device, Step::Abort)?;
    }
    if !device.has_power() {
        change(&mut device, Step::Recover)?;
    }
    Ok(device)
}
