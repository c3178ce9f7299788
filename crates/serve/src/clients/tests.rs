use super::{Clients, PATIENCE};
use crate::socket::Socket;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "clients come in wall time")]
fn now() -> Instant {
    Instant::now()
}

/// Creates the client's and the server's end of a connection.
fn connection() -> (UnixStream, Socket) {
    let (client, server) = UnixStream::pair().unwrap();
    (client, Socket::Unix(server))
}

/// Returns whether the server has closed the connection.
fn is_ended(client: &mut UnixStream) -> bool {
    client.set_nonblocking(true).unwrap();
    client.read(&mut [0]).is_ok_and(|read| read == 0)
}

#[test]
fn who_does_not_choose_in_time_is_cut_off_whatever_it_does_meanwhile() {
    let clients = Clients::of_at_most(3);
    let came = now();
    let (mut slow, of_slow) = connection();
    let (mut chosen, of_chosen) = connection();
    let (mut caller, of_caller) = connection();
    let number = clients.enter(&of_slow, Some(came)).unwrap();
    clients.chose(clients.enter(&of_chosen, Some(came)).unwrap());
    clients.enter(&of_caller, None).unwrap();
    clients.cut_undecided(came + PATIENCE);
    assert!(!is_ended(&mut slow), "it still has time");
    clients.cut_undecided(came + PATIENCE + Duration::from_millis(1));
    assert!(is_ended(&mut slow));
    assert!(!is_ended(&mut chosen) && !is_ended(&mut caller));
    // The thread of the client may detect the disconnection while it reads a message.
    clients.leave(number, Some("the client disconnected in the middle of a message".into()));
    let counted = clients.counted();
    assert_eq!((counted.now, counted.dropped), (2, 1));
    assert_eq!(counted.last_drop.unwrap(), "the client did not select an export within 30s");
}

#[test]
fn a_place_is_free_again_when_its_client_was_cut_off() {
    let clients = Clients::of_at_most(1);
    let came = now();
    let (_first, of_first) = connection();
    let (mut second, of_second) = connection();
    let number = clients.enter(&of_first, Some(came)).unwrap();
    assert_eq!(clients.enter(&of_second, Some(came)), None);
    assert!(is_ended(&mut second));
    clients.cut_undecided(came + 2 * PATIENCE);
    clients.leave(number, None);
    let (_third, of_third) = connection();
    assert!(clients.enter(&of_third, Some(came)).is_some());
}
