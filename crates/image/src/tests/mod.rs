//! Tests with a toy device on images in real files, and in a simulated file with failures and power losses.

mod crashes;
mod damage;
mod errors;
mod laws;
mod raw_crashes;
mod round_trips;
mod toy;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A temporary folder for one test. The folder is removed when this value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nacre-image-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("the folder for temporary files can be written");
        Folder(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("x.nacre")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
