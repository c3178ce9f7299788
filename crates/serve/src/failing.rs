//! Failures that the user injects.

use crate::outage::{Outage, Permille};
use crate::serving::{Body, Disk};
use nacre_image::{ImageError, Watch};
use nacre_memory::Step;
use nacre_memory::harm::{Harm, touched};
use std::io;
use std::path::Path;

impl Disk {
    /// Cuts and restores power at the current time. Acknowledged data in volatile memory is lost. Data that
    /// is being written is present, absent, or torn. Connected clients get no more replies, and the caller
    /// closes their connections. If `again` is given, power fails a second time at that point of the
    /// recovery.
    ///
    /// Returns an error if no device is modeled, the device is read-only, or the image cannot be written.
    pub(crate) fn power_fail(&self, again: Option<Permille>) -> io::Result<Outage> {
        self.check_writable()?;
        match &self.body {
            Body::Device(model) => model.power_fail(again),
            Body::Raw(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "--timing none has no modeled device, so a power loss has no effect; serve it with its \
                 timing",
            )),
        }
    }

    /// Injects or clears media errors in the sectors of a range. The image stores these errors.
    ///
    /// Returns an error if the range is outside the device, or if the image is read-only or cannot be
    /// written.
    pub(crate) fn harm(&self, offset: u64, bytes: u64, harm: Harm) -> io::Result<()> {
        let end = offset.checked_add(bytes).filter(|&end| end <= self.export.bytes && bytes > 0);
        let Some(end) = end else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the range is past the end of the device",
            ));
        };
        self.check_writable()?;
        let sectors = touched(offset..end);
        let sectors = sectors.start..sectors.end.min(self.export.bytes);
        match &self.body {
            Body::Raw(raw) => raw.harm(harm, sectors),
            Body::Device(model) => {
                let (address, bytes) = (sectors.start, sectors.end - sectors.start);
                model.change(Step::Harm { harm, address, bytes })
            }
        }
    }

    /// Copies the image to `to`. No request is served during the copy. The copy is a valid image. Returns the
    /// disk space that the copy occupies, in bytes.
    ///
    /// Returns an error if the path exists or cannot be written, or if `watch` stopped the copy.
    pub(crate) fn snapshot(&self, to: &Path, watch: &mut Watch<'_>) -> Result<u64, ImageError> {
        match &self.body {
            Body::Raw(raw) => raw.copy_to(to, watch),
            Body::Device(model) => {
                let image = model.image().expect("a served device has an image");
                model.alone(|| image.copy_to(to, watch))
            }
        }
    }

    fn check_writable(&self) -> io::Result<()> {
        match self.export.read_only {
            true => Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the device is served read-only")),
            false => Ok(()),
        }
    }
}
