//! Loops that serve the control socket and the metrics, with limits on clients, bytes, and time.

use crate::clients::Clients;
use crate::control::{self, LINE_MAX, Refusal};
use crate::listen::Listener;
use crate::metrics::{self, HEAD_MAX};
use crate::socket::{Socket, pause};
use crate::threads;
use crate::watch::Watch;
use nacre_kernel::ErrorCode;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Maximum number of concurrent callers of one socket. The server rejects additional callers.
const CALLERS_MAX: usize = 16;
/// Interval at which the loop checks whether the server is stopping.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time after which the server disconnects a silent caller of the control socket.
const CONTROL_PATIENCE: Duration = Duration::from_secs(300);
/// Time after which the server disconnects a caller that has not sent a complete metrics request.
const METRICS_PATIENCE: Duration = Duration::from_secs(10);

/// Serves each caller of `listener` in a separate thread until `is_over` is set. Then disconnects all
/// callers.
#[expect(clippy::disallowed_methods, reason = "each caller has its own thread")]
pub(crate) fn attend(listener: &Listener, is_over: &AtomicBool, serve: impl Fn(&Socket) + Sync) {
    let callers = Clients::of_at_most(CALLERS_MAX);
    std::thread::scope(|scope| {
        while !is_over.load(Ordering::Relaxed) {
            let socket = match listener.accept() {
                Ok(Some(socket)) => socket,
                Ok(None) => {
                    let _ = listener.wait(CHECK_INTERVAL);
                    continue;
                }
                // The caller disconnected, or too many files are open. In the latter case, accepting would
                // immediately fail again.
                Err(_) => {
                    pause(CHECK_INTERVAL);
                    continue;
                }
            };
            let Some(entry) = callers.enter(&socket, None) else { continue };
            let (callers, serve) = (&callers, &serve);
            let attended = move || {
                serve(&socket);
                socket.end();
                callers.leave(entry, None);
            };
            // If no thread can be started, this connection ends. Later connections may succeed.
            if let Err(error) = threads::spawn(scope, Builder::new(), attended) {
                callers.leave(entry, Some(error.to_string()));
            }
        }
        callers.stop_reading();
    });
}

/// Answers the commands of one caller of the control socket, line by line.
pub(crate) fn control(socket: &Socket, watch: &Watch<'_>) {
    let mut line = Vec::new();
    let mut talk = || -> io::Result<()> {
        socket.set_read_patience(Some(CONTROL_PATIENCE))?;
        socket.set_write_patience(Some(CONTROL_PATIENCE))?;
        while take_line(socket, &mut line)? {
            if line.len() > LINE_MAX {
                let message = format!("a line has {LINE_MAX} bytes at most");
                let refused = Refusal::new(ErrorCode::OverLimit, message);
                return socket.write_all(&control::answer(Err(refused)));
            }
            let answer = control::parse(&line).and_then(|command| watch.execute(command));
            socket.write_all(&control::answer(answer))?;
        }
        Ok(())
    };
    // If the caller has disconnected, it needs no reply.
    let _ = talk();
}

/// Reads the next line into `line`, without the newline. If the line is too long, only its start is read.
/// Returns `false` if the caller disconnects.
fn take_line(socket: &Socket, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut byte = [0];
    while line.len() <= LINE_MAX {
        match socket.read(&mut byte)? {
            0 => return Ok(false),
            _ if byte[0] == b'\n' => return Ok(true),
            _ => line.push(byte[0]),
        }
    }
    Ok(true)
}

/// Serves one metrics request.
pub(crate) fn metrics(listener: &Listener, socket: &Socket, watch: &Watch<'_>) {
    let began = now();
    let talk = || -> io::Result<()> {
        socket.set_read_patience(Some(METRICS_PATIENCE))?;
        socket.set_write_patience(Some(METRICS_PATIENCE))?;
        let (mut head, mut part) = (Vec::new(), [0; 1024]);
        while now() - began < METRICS_PATIENCE {
            let page = || metrics::text(&watch.statistics());
            if let Some(answer) = metrics::respond(&head, |host| listener.is_host(host), page) {
                return socket.write_all(&answer.unwrap_or_default());
            }
            let room = (HEAD_MAX - head.len()).min(part.len());
            match socket.read(&mut part[..room])? {
                0 => break,
                read => head.extend(&part[..read]),
            }
        }
        Ok(())
    };
    let _ = talk();
}

#[expect(clippy::disallowed_methods, reason = "callers come in wall time")]
fn now() -> Instant {
    Instant::now()
}
