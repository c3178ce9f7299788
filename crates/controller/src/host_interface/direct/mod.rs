//! A driver, its CPUs, and a link that carries data and nothing else.
//!
//! # Models
//! The driver takes CPU time for a request. The data of a write crosses the link to the device, that of a read back;
//! each way has its own bandwidth. The host knows at once that a request is done.
//!
//! # Leaves out
//! Commands, doorbells, completions and interrupts, whose costs are in what the driver takes; packets.
//!
//! # Sources
//! akel-2011 section 2.1, whose drive and driver know each other so.
//!
//! # Checks
//! A request alone takes the sum of its parts; many take what the slowest part takes.

use super::processors::Processors;
use super::{HostInterface, HostInterfaceFamily, Step};
use nacre_config::{Configuration, Descriptor, Room};
use nacre_kernel::state::State;
use nacre_kernel::{Bandwidth, Link, Op, Request, Resource, Time};

#[cfg(test)]
mod tests;

/// A driver, its CPUs, and a link that carries data and nothing else.
#[derive(Clone, Debug, Configuration)]
pub struct Config {
    /// CPU time the driver takes for a request.
    #[config(default = "0 s", max = "1 s", source = "assumed: the host is free unless told otherwise")]
    pub driver: Time,
    /// CPUs that run the driver.
    #[config(default = 16, min = 1, max = 1024, source = "assumed: enough not to wait for")]
    pub cpus: u32,
    /// Bandwidth of the link, each way.
    #[config(min = "1 B/s")]
    pub link: Bandwidth,
}

/// This room.
pub const ROOM: Room<HostInterfaceFamily> = Room {
    descriptor: Descriptor::of::<Config>(
        "direct",
        "a driver and a link that carries data and nothing else",
        &["akel-2011"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, host| {
        let config: Config = slot.config(host.families);
        Ok(Box::new(Direct {
            driver: config.driver,
            processors: Processors::new(config.cpus),
            from_host: Link::new(config.link),
            to_host: Link::new(config.link),
        }))
    },
};

#[derive(State)]
struct Direct {
    #[state(skip = "from the configuration")]
    driver: Time,
    processors: Processors,
    from_host: Link,
    to_host: Link,
}

fn cross(link: &mut Link, at: Time, bytes: u64) -> Step {
    let time = link.time_for(bytes);
    Step { there: link.cross_unordered(at, time), link: time, ..Step::default() }
}

impl HostInterface for Direct {
    fn piece(&self) -> u64 {
        4096
    }

    fn has_commands(&self) -> bool {
        true
    }

    fn begin(&mut self, now: Time, _request: &Request) -> Step {
        self.processors.work(now, self.driver)
    }

    fn bring(&mut self, at: Time, op: Op, bytes: u64) -> Step {
        if op == Op::Write { cross(&mut self.from_host, at, bytes) } else { Step::none(at) }
    }

    fn answer(&mut self, at: Time, op: Op, bytes: u64) -> Step {
        if op == Op::Read { cross(&mut self.to_host, at, bytes) } else { Step::none(at) }
    }

    fn end(&mut self, at: Time, _op: Op) -> Step {
        Step::none(at)
    }

    fn advance(&mut self, to: Time) {
        self.processors.advance(to);
        self.from_host.forget_before(to);
        self.to_host.forget_before(to);
    }

    fn clear(&mut self) {
        self.processors.clear();
        self.from_host.clear();
        self.to_host.clear();
    }

    fn busy_until(&self) -> Time {
        self.processors.busy_until().max(self.from_host.free_from()).max(self.to_host.free_from())
    }

    fn restart_ledger(&mut self) {
        self.processors.restart_ledger();
        self.from_host.restart_ledger();
        self.to_host.restart_ledger();
    }

    fn resources(&self) -> Vec<Resource> {
        vec![
            self.processors.resource(),
            self.from_host.resource("to_device"),
            self.to_host.resource("to_host"),
        ]
    }

    fn check_invariants(&self) {
        self.processors.check_invariants();
        self.from_host.check_invariants();
        self.to_host.check_invariants();
    }
}
