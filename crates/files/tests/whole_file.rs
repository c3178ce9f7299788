//! Tests that files appear complete or not at all, and that reading them returns the written content.
#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

use nacre_files::{Existing, ShareRead, StateFile, WholeFile, open, open_file};
use std::fs;
use std::io::{BufRead, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn every_compression_reads_back_what_was_written() {
    let folder = folder("whole-round-trip");
    let text: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    for ending in ["csv", "csv.gz", "csv.zst", "csv.xz"] {
        let place = folder.join(format!("trace.{ending}"));
        let mut file = WholeFile::begin(&place, Existing::Replaced).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        assert!(!place.exists(), "{ending} appeared before it was finished");
        file.finish().unwrap();
        let mut back = String::new();
        open(&place, &ShareRead::default()).unwrap().read_to_string(&mut back).unwrap();
        assert!(back == text, "{ending} came back different");
        assert_eq!(open(&place, &ShareRead::default()).unwrap().lines().count(), 20_000);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "only the finished files are there");
}

#[test]
fn an_unfinished_file_leaves_the_old_one_and_nothing_else() {
    let folder = folder("whole-unfinished");
    let place = folder.join("trace.csv");
    fs::write(&place, "old").unwrap();
    let mut file = WholeFile::begin(&place, Existing::Replaced).unwrap();
    file.write_all(b"new").unwrap();
    drop(file);
    assert_eq!(fs::read_to_string(&place).unwrap(), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Writes a file to `place` and returns the result of finishing it.
fn written(place: &Path, existing: Existing) -> std::io::Result<u64> {
    let mut file = WholeFile::begin(place, existing)?;
    file.write_all(b"new")?;
    file.finish()
}

#[test]
fn a_file_is_replaced_only_where_that_was_said_and_a_link_never() {
    let folder = folder("whole-existing");
    let (file, link, dangling) = (folder.join("file"), folder.join("link"), folder.join("dangling"));
    fs::write(&file, "old").unwrap();
    symlink(&file, &link).unwrap();
    symlink(folder.join("nowhere"), &dangling).unwrap();
    for place in [&file, &link, &dangling] {
        let refused = written(place, Existing::Kept).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::AlreadyExists, "{}", place.display());
    }
    for place in [&link, &dangling, &folder] {
        let refused = written(place, Existing::Replaced).unwrap_err().to_string();
        assert_eq!(refused, "the existing entry is not a file", "{}", place.display());
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    written(&file, Existing::Replaced).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_file_that_comes_while_another_is_written_stays() {
    let folder = folder("whole-meanwhile");
    let place = folder.join("file");
    for existing in [Existing::Kept, Existing::Replaced] {
        let mut file = WholeFile::begin(&place, existing).unwrap();
        file.write_all(b"new").unwrap();
        fs::write(&place, "meanwhile").unwrap();
        assert_eq!(file.finish().unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&place).unwrap(), "meanwhile");
        fs::remove_file(&place).unwrap();
    }
    // The written data is preserved under a similar name.
    assert_eq!(names(&folder), ["file-2", "file-3"]);
    assert_eq!(fs::read_to_string(folder.join("file-3")).unwrap(), "new");
}

#[test]
fn the_other_name_of_a_file_says_what_it_holds() {
    let folder = folder("whole-other-name");
    for (name, other) in
        [("io.nacre.zst", "io-2.nacre.zst"), (".hidden.csv", ".hidden-2.csv"), ("bare", "bare-2")]
    {
        let place = folder.join(name);
        let file = WholeFile::begin(&place, Existing::Kept).unwrap();
        fs::write(&place, "meanwhile").unwrap();
        let refused = file.finish().unwrap_err().to_string();
        let kept = folder.join(other);
        assert!(refused.ends_with(&format!("the new one is kept as {}", kept.display())), "{refused}");
        assert!(kept.exists());
    }
}

#[test]
fn a_file_that_is_in_use_is_never_replaced() {
    let folder = folder("whole-in-use");
    let place = folder.join("disk.img");
    fs::write(&place, "an image").unwrap();
    let begun = WholeFile::begin(&place, Existing::Replaced).unwrap();
    // A server opens its image while the new file is being written.
    let image = fs::File::open(&place).unwrap();
    image.try_lock().unwrap();
    for refused in [begun.finish().unwrap_err(), written(&place, Existing::Replaced).unwrap_err()] {
        assert_eq!(refused.kind(), std::io::ErrorKind::ResourceBusy, "{refused}");
        assert!(refused.to_string().starts_with("it is in use"), "{refused}");
    }
    assert_eq!(fs::read_to_string(&place).unwrap(), "an image");
    assert_eq!(names(&folder), ["disk-2.img", "disk.img"]);
    drop(image);
    written(&place, Existing::Replaced).unwrap();
    assert_eq!(fs::read_to_string(&place).unwrap(), "new");
}

#[test]
fn a_pipe_is_no_file_and_nobody_waits_for_it() {
    let folder = folder("whole-pipe");
    let pipe = folder.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    assert_eq!(open_file(&pipe).unwrap_err().to_string(), "it is not a file");
    assert!(StateFile::begin(&pipe).is_err_and(|refused| refused.to_string().contains("not a saved state")));
    assert_eq!(open_file(&folder).unwrap_err().to_string(), "it is not a file");
    assert_eq!(names(&folder), ["pipe"]);
}

#[test]
fn the_share_read_grows_to_one() {
    let folder = folder("share-read");
    let place = folder.join("trace.bin");
    fs::write(&place, vec![7; 4 << 20]).unwrap();
    let share = ShareRead::default();
    assert_eq!(share.fraction(), None);
    let mut file = open(&place, &share).unwrap();
    let mut half = vec![0; 2 << 20];
    file.read_exact(&mut half).unwrap();
    let fraction = share.fraction().unwrap();
    assert!((0.5..=0.8).contains(&fraction), "{fraction} was read");
    file.read_to_end(&mut half).unwrap();
    assert_eq!((share.fraction(), share.estimate(300)), (Some(1.0), Some(300)));
}
