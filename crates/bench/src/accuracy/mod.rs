//! Accuracy of schedulers, compared with event simulations that serve the same requests.

mod cards;
mod disks;
mod flash;
mod queues;

use crate::Result;
use nacre_kernel::event::Device;
use nacre_kernel::{Request, Time};
use nacre_testkit::oracle::{Load, Summary};
use nacre_testkit::visits;
use std::fmt;

/// Prints all comparisons.
pub(crate) fn print() {
    println!("Nacre against an event simulation (right) that serves the same requests");
    println!("closed n: n requests under way; open n: n Poisson arrivals/s");
    disks::print();
    flash::print();
    cards::print();
    queues::print();
}

/// Arrival process of the requests.
#[derive(Clone, Copy)]
enum Host {
    /// A constant number of outstanding requests.
    Closed(u32),
    /// Poisson arrivals with this number of requests per second.
    Open(u32),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Closed(clients) => write!(f, "closed {clients}"),
            Host::Open(rate) => write!(f, "open {rate}"),
        }
    }
}

/// The results of Nacre, followed by the results of the event simulation.
type Compared = [Summary; 2];

/// Simulates `requests` with Nacre and with the event simulation. In an open loop, each request is submitted
/// at its arrival time.
fn compare(
    device: &mut dyn Device,
    simulated: impl FnOnce(Load<'_>) -> Summary,
    host: Host,
    requests: &[Request],
) -> Compared {
    let times: Vec<Time> = requests.iter().map(|request| request.arrival).collect();
    let load = match host {
        Host::Closed(clients) => Load::Closed { clients: clients as usize },
        Host::Open(_) => Load::Open(&times),
    };
    [Summary::of(&visits(device, requests, load)), simulated(load)]
}

/// Prints the title and header of a table with times in `unit`.
fn head(title: &str, unit: &str) {
    println!("\n{title}; times in {unit}\n");
    print!("{:38}", "");
    for name in ["req/s", "mean", "p50", "p99"] {
        print!(" {name:>9} {:>9} {:>6}  ", "right", "error");
    }
    println!();
}

/// Prints the results of one case. `per_s` is the number of time units per second.
fn line(name: &str, per_s: f64, compared: Result<Compared>) {
    match compared {
        Ok([found, right]) => {
            let units = |time: Time| time.as_secs_f64() * per_s;
            let values = |of: Summary| [of.per_second, of.mean_s * per_s, units(of.p50), units(of.p99)];
            print!("{name:38}");
            for (found, right) in values(found).into_iter().zip(values(right)) {
                print!(" {found:9.2} {right:9.2} {:+5.1}%  ", 100.0 * (found / right - 1.0));
            }
            println!();
        }
        Err(error) => println!("{name}: {error}"),
    }
}
