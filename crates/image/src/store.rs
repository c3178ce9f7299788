//! A store for the data of a medium whose pages are in an image.

use crate::image::{Held, Image};
use nacre_media::store::Store;

/// The pages of a device in its image.
///
/// A store cannot report disk failures. It records them instead: all writes stop, unreadable pages read as
/// 0xFF, and [`Image::error`] and the next operation of the [`Image`] return the error.
#[derive(Debug)]
pub struct ImageStore {
    image: Image,
    page_bytes: usize,
}

impl Image {
    /// Returns a store for the pages of the image. The device will own this store.
    pub fn store(&self) -> ImageStore {
        ImageStore { image: self.clone(), page_bytes: self.hold().extents.page_bytes() }
    }
}

impl Store for ImageStore {
    const CARRIES_BYTES: bool = true;

    fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool {
        assert!(offset + into.len() <= self.page_bytes, "a read stays within its page");
        let mut held = self.image.hold();
        let Some(found) = held.extents.find(page) else {
            into.fill(0xFF);
            return false;
        };
        if held.read_page(self.image.disk(), found, offset, into).is_err() {
            into.fill(0xFF);
        }
        true
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.page_bytes, "a page is programmed as a whole");
        let mut held = self.image.hold();
        if held.check().is_err() {
            return;
        }
        let (disk, Held { extents, buffers, .. }) = (self.image.disk(), &mut *held);
        let checksum = extents.have_checksums().then(|| crc32fast::hash(bytes));
        let written = buffers.write(disk, extents.place(page, checksum), bytes);
        if let Err(error) = written {
            held.fail("writing a page", &error);
        }
    }

    fn copy(&mut self, from: u64, to: u64) {
        let mut held = self.image.hold();
        if held.check().is_err() || from == to {
            return;
        }
        let (disk, Held { extents, buffers, buffer, .. }) = (self.image.disk(), &mut *held);
        let Some(source) = extents.find(from) else { return extents.erase(to, 1) };
        buffer.resize(self.page_bytes, 0);
        // The copy gets the checksum of its source, so that damage of the source is detected in the copy.
        let to = extents.place(to, source.checksum);
        let copied = buffers.copy(disk, source.offset, to, buffer);
        if let Err(error) = copied {
            held.fail("copying a page", &error);
        }
    }

    fn erase(&mut self, first: u64, count: u64) {
        self.image.hold().extents.erase(first, count);
    }
}
