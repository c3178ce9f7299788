#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

use super::{Address, AddressError, Listener};
use std::path::PathBuf;

/// A folder of a test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("nacre-listen-{}-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn without_encryption_only_this_machine_is_listened_to() {
    for host in ["127.0.0.1:0", "127.1.2.3:0", "[::ffff:127.0.0.1]:0"] {
        let bound = Listener::bind(&Address::Tcp(host.into()), false);
        assert!(bound.is_ok(), "{host}");
    }
    for host in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
        let bound = Listener::bind(&Address::Tcp(host.into()), false);
        assert!(matches!(bound, Err(AddressError::NotLoopback(_))), "{host}");
    }
}

#[test]
fn a_socket_that_another_has_bound_meanwhile_stays() {
    let folder = Folder::new("stays");
    let path = folder.0.join("socket");
    for bind in [
        |path: &PathBuf| Listener::bind(&Address::Unix(path.clone()), false),
        |path: &PathBuf| Listener::bind_private(path),
    ] {
        let first = bind(&path).ok().unwrap();
        assert!(matches!(bind(&path), Err(AddressError::InUse(_))));
        std::fs::remove_file(&path).unwrap();
        let second = bind(&path).ok().unwrap();
        drop(first);
        assert!(path.exists(), "it is the second one's");
        drop(second);
        assert!(!path.exists());
    }
}

#[test]
fn what_is_in_the_way_of_a_socket_stays_unless_it_is_one_that_nobody_answers_on() {
    let folder = Folder::new("in-the-way");
    let (letter, link, socket) = (folder.0.join("letter"), folder.0.join("link"), folder.0.join("socket"));
    std::fs::write(&letter, "a letter").unwrap();
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    std::os::unix::fs::symlink(&socket, &link).unwrap();
    for path in [&letter, &link] {
        assert!(Listener::bind_private(path).is_err(), "{}", path.display());
    }
    assert!(link.is_symlink() && std::fs::read(&letter).unwrap() == b"a letter");
    assert!(Listener::bind_private(&socket).is_ok());
}
