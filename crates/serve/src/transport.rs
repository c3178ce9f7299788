//! Transport delay between client and server, which adds to the latency of the device.
//!
//! A timed server measures the delay when it starts. Two threads of the server act as client and server. The
//! client thread sends a request over a connected pair of sockets and sleeps until the reply arrives. The
//! other thread replies after [`WAIT`]. The rest of the round-trip time, for short and for long replies, is
//! the transport delay. If requested, replies are sent earlier by this delay. Without [`WAIT`], the client
//! would hardly sleep, but waking up takes longer after a longer sleep.
//!
//! The delay is the median of the round-trip times, but at most [`SPREAD_MAX`] times the minimum round-trip
//! time. If this minimum exceeds [`FASTEST_MAX`], [`FASTEST_MAX`] is used instead. These limits exclude
//! interference on a busy machine, because a reply should be late rather than early. A reply to a client
//! with this delay is early by at most the [spread](Transport::spread), which is at most a third of the
//! delay. Clients that are more distant, busier, or slower observe a higher latency. To emulate a device
//! that is faster than the transport, use dilation.

#![expect(clippy::disallowed_types, reason = "sockets belong here")]

use crate::awake::Awake;
use crate::linger::{Linger, PollingSlots};
use crate::listen::Address;
use crate::socket::{Socket, wait_for};
use nacre_nbd::HEADER_BYTES;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Data size of the short replies in the measurement, in bytes.
const SHORT: usize = 4 << 10;
/// Data size of the long replies in the measurement, in bytes.
const LONG: usize = 256 << 10;
/// Number of measured round trips per data size.
const ROUNDS: usize = 301;
/// Sizes in bytes of the parts that a client reads before the data of a reply: the chunk header, and the
/// offset of the data.
const PARTS: [usize; 2] = [20, 8];
const HEAD_BYTES: usize = PARTS[0] + PARTS[1];
/// Maximum accepted ratio of the median to the minimum delay. The ratio is 1.2 to 1.5 for an undisturbed
/// transport.
const SPREAD_MAX: f64 = 1.5;
/// Maximum accepted time of the fastest round trip. Undisturbed round trips took 20 to 30 us on all measured
/// machines.
const FASTEST_MAX: Duration = Duration::from_micros(30);
/// Maximum transfer time per byte. A socket transfers more than 1 GB/s.
const NANOSECONDS_PER_BYTE_MAX: f64 = 1.0;
/// Delay of each reply in the measurement, like the latency of a device.
const WAIT: Duration = Duration::from_micros(100);

/// Transport delay: a constant part, and a part per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transport {
    base: Duration,
    nanoseconds_per_byte: f64,
    spread: Duration,
}

impl Transport {
    /// Returns the round-trip delay for `bytes` bytes of data in one direction.
    pub fn of(&self, bytes: u32) -> Duration {
        self.base + Duration::from_nanos((f64::from(bytes) * self.nanoseconds_per_byte) as u64)
    }

    /// Returns the difference between the usual and the minimum delay. Replies may be early by this time.
    pub(crate) fn spread(&self) -> Duration {
        self.spread
    }

    /// Creates a delay of `base` for any data size. `spread` is the difference from the minimum delay.
    #[cfg(test)]
    pub(crate) fn of_small(base: Duration, spread: Duration) -> Transport {
        Transport { base, nanoseconds_per_byte: 0.0, spread }
    }

    /// Measures the delay with sockets of the same type as `address`. If the system does not provide these
    /// sockets, the delay is zero.
    pub fn measured(address: &Address) -> Transport {
        measure(address).map_or_else(|_| Transport::default(), |(short, long)| Transport::new(&short, &long))
    }

    fn new(short: &Rounds, long: &Rounds) -> Transport {
        // The slope is computed from the fastest round trips, because interference that affects only long
        // replies does not depend on their length.
        let slope = long.fastest.saturating_sub(short.fastest).as_nanos() as f64 / (LONG - SHORT) as f64;
        let slope = slope.min(NANOSECONDS_PER_BYTE_MAX);
        let of_short = Duration::from_nanos((slope * SHORT as f64) as u64);
        let fastest = short.fastest.min(FASTEST_MAX);
        let usual = short.median.min(fastest.mul_f64(SPREAD_MAX));
        Transport {
            base: usual.saturating_sub(of_short),
            nanoseconds_per_byte: slope,
            spread: usual.saturating_sub(fastest),
        }
    }
}

/// Round-trip times for one data size, without [`WAIT`].
struct Rounds {
    fastest: Duration,
    median: Duration,
}

#[expect(clippy::disallowed_methods, reason = "both ends are asked at once")]
fn measure(address: &Address) -> io::Result<(Rounds, Rounds)> {
    let (client, server) = pair(address)?;
    // If this fails, processors may sleep during the measurement, as they do when clients are served.
    let _awake = Awake::keep();
    std::thread::scope(|scope| {
        let echo = Builder::new().spawn_scoped(scope, move || answer(&server))?;
        let way = rounds(&client, SHORT).and_then(|short| Ok((short, rounds(&client, LONG)?)));
        client.end();
        // If this fails, later operations report the failure.
        let _ = echo.join();
        way
    })
}

/// Acts as the server: replies to requests until the client disconnects.
fn answer(server: &Socket) -> io::Result<()> {
    let answer = vec![0; HEAD_BYTES + LONG];
    let mut request = [0; HEADER_BYTES];
    let places = PollingSlots::new();
    let mut linger = Linger::new(&places);
    loop {
        let came = match linger.look(|| server.read_now(&mut request))? {
            Some(came) => came,
            None => server.read(&mut request).inspect(|_| linger.woken())?,
        };
        let arrived = now();
        if came < HEADER_BYTES {
            return Ok(());
        }
        while now() - arrived < WAIT {
            std::thread::yield_now();
        }
        let long = request[0] != 0;
        server.write_all(&answer[..HEAD_BYTES + if long { LONG } else { SHORT }])?;
    }
}

/// Acts as the client: measures round-trip times without [`WAIT`].
fn rounds(client: &Socket, bytes: usize) -> io::Result<Rounds> {
    let request = [u8::from(bytes == LONG); HEADER_BYTES];
    let mut answer = vec![0; bytes];
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let began = now();
        client.write_all(&request)?;
        wait_for(client, Duration::from_secs(1))?;
        for part in PARTS {
            client.read(&mut answer[..part])?;
        }
        let mut got = 0;
        while got < bytes {
            match client.read_now(&mut answer[got..])? {
                Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(read) => got += read,
                None => wait_for(client, Duration::from_secs(1))?,
            }
        }
        rounds.push((now() - began).saturating_sub(WAIT));
    }
    rounds.sort_unstable();
    Ok(Rounds { fastest: rounds[0], median: rounds[ROUNDS / 2] })
}

fn pair(address: &Address) -> io::Result<(Socket, Socket)> {
    match address {
        Address::Unix(_) => {
            let (one, other) = UnixStream::pair()?;
            Ok((Socket::Unix(one), Socket::Unix(other)))
        }
        Address::Tcp(_) => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let one = Socket::Tcp(TcpStream::connect(listener.local_addr()?)?);
            let other = Socket::Tcp(listener.accept()?.0);
            one.prepare()?;
            other.prepare()?;
            Ok((one, other))
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the way is measured by the wall clock")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(fastest: u64, median: u64) -> Rounds {
        Rounds { fastest: Duration::from_micros(fastest), median: Duration::from_micros(median) }
    }

    #[test]
    fn an_undisturbed_way_takes_what_it_usually_takes() {
        let way = Transport::new(&rounds(24, 30), &rounds(276, 300));
        // The delay increases by 1 us per KiB. The short replies have 4 KiB.
        assert_eq!(way.of(4 << 10), Duration::from_micros(30));
        assert_eq!(way.of(64 << 10), Duration::from_micros(90));
        assert_eq!(way.spread(), Duration::from_micros(6));
    }

    #[test]
    fn what_others_take_of_a_busy_machine_is_not_the_way() {
        let way = Transport::new(&rounds(20, 4_000), &rounds(20, 12_000));
        assert_eq!((way.of(4 << 10), way.spread()), (Duration::from_micros(30), Duration::from_micros(10)));
        // Every round trip was disturbed.
        let way = Transport::new(&rounds(4_000, 9_000), &rounds(9_000, 12_000));
        assert_eq!((way.of(4 << 10), way.spread()), (Duration::from_micros(45), Duration::from_micros(15)));
        assert_eq!(way.of(1 << 20) - way.of(0), Duration::from_nanos(1 << 20));
    }
}
