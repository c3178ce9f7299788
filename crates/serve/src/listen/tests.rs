#![expect(clippy::disallowed_methods, reason = "these tests are about files")]

use super::{Address, AddressError, Listener};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Barrier;

/// Temporary folder of a test, removed on drop.
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
fn only_names_of_this_machine_are_asked_for_metrics() {
    let bind = |host: &str| Listener::bind(&Address::Tcp(host.into()), false).unwrap();
    let bound = bind("127.0.0.1:0");
    let port =
        bound.url().rsplit(':').next().and_then(|end| end.strip_suffix("/metrics")).unwrap().to_string();
    for name in ["127.0.0.1", "localhost", "LocalHost", "[::1]", "127.1.2.3"] {
        assert!(bound.is_host(Some(&format!("{name}:{port}"))), "{name}");
    }
    for name in ["rebind.example", "192.0.2.1", "localhost.rebind.example", "", "127.0.0.1.rebind.example"] {
        assert!(!bound.is_host(Some(&format!("{name}:{port}"))), "{name}");
    }
    assert!(!bound.is_host(Some("127.0.0.1")) && !bound.is_host(Some("127.0.0.1:1")) && !bound.is_host(None));
    let folder = Folder::new("host");
    let socket = Listener::bind(&Address::Unix(folder.0.join("socket")), false).unwrap();
    assert!(socket.is_host(Some("metrics")) && socket.is_host(None), "no name leads to it");
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

#[test]
fn of_servers_that_begin_together_on_a_dead_socket_one_has_it() {
    let folder = Folder::new("together");
    let path = folder.0.join("socket");
    for round in 0..200 {
        drop(UnixListener::bind(&path).unwrap());
        let together = Barrier::new(4);
        let bound: Vec<_> = std::thread::scope(|scope| {
            let bind = |number: u32| {
                let (path, together) = (&path, &together);
                scope.spawn(move || {
                    together.wait();
                    match number % 2 {
                        0 => Listener::bind(&Address::Unix(path.clone()), false),
                        _ => Listener::bind_private(path),
                    }
                })
            };
            let threads: Vec<_> = (0..4).map(bind).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let has = |bound: &&Result<Listener, AddressError>| bound.is_ok();
        assert_eq!(bound.iter().filter(has).count(), 1, "round {round}");
        let _client = UnixStream::connect(&path).unwrap();
        let listener = bound.into_iter().find_map(Result::ok).unwrap();
        assert!(listener.accept().unwrap().is_some(), "round {round}: the name leads to another");
        drop(listener);
        assert!(!path.exists(), "round {round}");
    }
}

#[test]
fn a_folder_that_somebody_keeps_locked_is_told() {
    let folder = Folder::new("locked");
    let held = std::fs::File::open(&folder.0).unwrap();
    held.lock().unwrap();
    let bound = Listener::bind_private(&folder.0.join("socket"));
    let said = bound.err().unwrap().to_string();
    assert!(said.ends_with("socket: another program keeps its folder locked"), "{said}");
}
