//! Opening of a device with stored data. The device is new, or continues from an image or from the state of a
//! run.

use crate::error::MemoryError;
use crate::persistent_device::PersistentDevice;
use crate::replay::replay;
use crate::stores;
use nacre_crash::medium_faults::SharedFaults;
use nacre_image::{Disk, Image, NewImage, Opened, Records};
use nacre_machine::identity::identity_with_files;
use nacre_machine::stack::{build_with_bytes, store_layouts};
use nacre_machine::{Checked, Files, SavedRun};
use std::path::Path;
use std::sync::Arc;

/// Options for opening an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Whether the file is opened read-only. Changes to the device are then lost.
    pub reads_only: bool,
    /// For a new image, whether every page has a checksum.
    pub page_checksums: bool,
}

impl Access {
    /// Read-only access.
    pub const READ_ONLY: Access = Access { reads_only: true, page_checksums: true };
}

impl Default for Access {
    /// Read and write access, with checksums.
    fn default() -> Access {
        Access { reads_only: false, page_checksums: true }
    }
}

impl PersistentDevice {
    /// Builds the device of `checked`, with its data only in memory.
    ///
    /// Returns an error if the stack stores no data or cannot be built.
    pub fn in_memory(checked: &Checked, files: &dyn Files) -> Result<PersistentDevice, MemoryError> {
        let layouts = store_layouts(checked, files).map_err(MemoryError::Scenario)?;
        let device = build_with_bytes(checked, files, stores::in_memory(&layouts));
        let page_bytes = stores::geometry(&layouts).page_bytes;
        Ok(PersistentDevice::new(checked, device.map_err(MemoryError::Scenario)?, page_bytes, None))
    }

    /// Builds the device and restores the state `saved` from a run (see [`nacre_machine::saved`]). The run
    /// stored no data, so the data that it wrote reads as zeros.
    ///
    /// Returns the errors of [`PersistentDevice::in_memory`], and an error if the state is from another
    /// stack.
    pub fn in_memory_from(
        checked: &Checked,
        files: &dyn Files,
        saved: &SavedRun<'_>,
    ) -> Result<PersistentDevice, MemoryError> {
        let mut device = PersistentDevice::in_memory(checked, files)?;
        device.begin_with(checked, files, saved).map_err(MemoryError::Scenario)?;
        Ok(device)
    }

    /// Opens the stack of `checked` in the image at `path`, which is created if it does not exist.
    ///
    /// Returns the errors of [`PersistentDevice::in_memory`] and of [`Image::open_or_create`]. If an error is
    /// returned, the image is unchanged.
    pub fn open(
        checked: &Checked,
        files: &dyn Files,
        path: &Path,
        access: Access,
    ) -> Result<PersistentDevice, MemoryError> {
        let layouts = store_layouts(checked, files).map_err(MemoryError::Scenario)?;
        let geometry = stores::geometry(&layouts);
        if !path.exists() {
            // A stack that cannot be built must not leave an image behind.
            build_with_bytes(checked, files, stores::in_memory(&layouts)).map_err(MemoryError::Scenario)?;
        }
        let identity = identity_with_files(checked, files);
        let Access { reads_only, page_checksums } = access;
        let opened = match reads_only {
            true => Image::open_to_read(path, &identity, geometry),
            false => Image::open_or_create(path, &identity, NewImage { geometry, page_checksums }),
        };
        PersistentDevice::of_image(checked, files, path, opened?)
    }

    /// Like [`PersistentDevice::open`], for an image on `disk`. An empty disk gets a new image with a journal
    /// of `journal_bytes` bytes, with or without page checksums.
    ///
    /// Returns the errors of [`PersistentDevice::open`].
    pub(crate) fn on_disk(
        checked: &Checked,
        files: &dyn Files,
        disk: Arc<dyn Disk>,
        journal_bytes: u64,
        page_checksums: bool,
    ) -> Result<PersistentDevice, MemoryError> {
        let layouts = store_layouts(checked, files).map_err(MemoryError::Scenario)?;
        let (path, geometry, identity) =
            (Path::new("image"), stores::geometry(&layouts), identity_with_files(checked, files));
        let opened = match disk.length() {
            Ok(0) => {
                let plan = NewImage { geometry, page_checksums };
                let image = Image::create_on(disk, path, &identity, plan, journal_bytes)?;
                Opened { image, state: None, records: Records::default(), torn: false }
            }
            _ => Image::open_on(disk, path, &identity, geometry)?,
        };
        PersistentDevice::of_image(checked, files, path, opened)
    }

    fn of_image(
        checked: &Checked,
        files: &dyn Files,
        path: &Path,
        opened: Opened,
    ) -> Result<PersistentDevice, MemoryError> {
        let layouts = store_layouts(checked, files).map_err(MemoryError::Scenario)?;
        let geometry = stores::geometry(&layouts);
        let Opened { image, state, records, torn } = opened;
        let faults = SharedFaults::default();
        let stores = stores::in_image(&layouts, &image, &faults);
        let device = build_with_bytes(checked, files, stores).map_err(MemoryError::Scenario)?;
        let mut device = PersistentDevice::new(checked, device, geometry.page_bytes, Some(image.clone()));
        device.medium_faults = faults;
        let unfit = |part: String, detail: String| MemoryError::Unfit {
            path: path.display().to_string(),
            part,
            detail,
        };
        if let Some(state) = state {
            device.restore(&state).map_err(|error| unfit("its checkpoint".into(), error.to_string()))?;
        }
        let replayed = replay(&mut device, &records);
        // After a damaged page, a device whose timing depends on data may deviate from the journal.
        image.error().map_or(Ok(()), Err)?;
        replayed.map_err(|(record, detail)| unfit(format!("record {record} of its journal"), detail))?;
        device.complete_all();
        image.error().map_or(Ok(()), Err)?;
        device.was_torn = torn;
        Ok(device)
    }

    /// Creates the image at `path` with the device of [`PersistentDevice::in_memory_from`].
    ///
    /// Returns the errors of [`PersistentDevice::in_memory_from`], and an error if the path exists or the
    /// image cannot be written. If an error is returned, no file is left behind.
    pub fn create_from(
        checked: &Checked,
        files: &dyn Files,
        path: &Path,
        page_checksums: bool,
        saved: &SavedRun<'_>,
    ) -> Result<PersistentDevice, MemoryError> {
        // A state that does not fit must not leave an image behind.
        PersistentDevice::in_memory_from(checked, files, saved)?;
        let layouts = store_layouts(checked, files).map_err(MemoryError::Scenario)?;
        let geometry = stores::geometry(&layouts);
        let image =
            Image::create(path, &identity_with_files(checked, files), NewImage { geometry, page_checksums })?;
        let begun = || {
            let faults = SharedFaults::default();
            let stores = stores::in_image(&layouts, &image, &faults);
            let device = build_with_bytes(checked, files, stores).map_err(MemoryError::Scenario)?;
            let mut device = PersistentDevice::new(checked, device, geometry.page_bytes, Some(image.clone()));
            device.medium_faults = faults;
            device.begin_with(checked, files, saved).map_err(MemoryError::Scenario)?;
            device.checkpoint().map_err(|error| MemoryError::of(error, geometry.page_bytes))?;
            Ok(device)
        };
        begun().inspect_err(|_| image.discard())
    }
}
