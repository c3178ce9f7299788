//! The drive: a host's way, a translation layer and flash, and the requests in progress between them.

pub(crate) mod active;
mod completing;
mod decoding;
mod device;
mod lookups;
mod reading;
pub(crate) mod report;
mod writing;

use crate::book::Book;
use crate::config::Config;
use crate::flash::backend::{Backend, Done};
use crate::ftl::translation::Translation;
use crate::host::Host;
use crate::recovery::outage::Outage;
use active::{Active, Part};
use nacre_kernel::event::{Agenda, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{ComponentId, Time};
use std::collections::VecDeque;

/// What happens by itself in the controller.
#[derive(Clone, Copy, Debug, Value)]
enum Event {
    /// The drive has recovered: a request that came meanwhile begins.
    Ready(u32),
    /// A part is decoded.
    Decoded(u32),
}

/// A flash drive with the translation layer `T`.
#[derive(State)]
#[state(bound = "T: Translation")]
pub(crate) struct Ssd<T> {
    #[state(skip = "from the configuration")]
    id: ComponentId,
    #[state(skip = "from the configuration")]
    path: String,
    #[state(skip = "from the configuration")]
    config: Config,
    ftl: T,
    flash: Backend,
    host: Host,
    agenda: Agenda<Event>,
    /// The moment that is being worked on.
    now: Time,
    active: Slab<Active>,
    parts: Slab<Part>,
    /// Writes, and trims that take their turn among them, that wait for room in the buffer.
    #[state(varies)]
    writers: VecDeque<u32>,
    /// Requests that wait for a page of the mapping table, behind its number.
    #[state(varies)]
    lookups: Vec<(u32, u32)>,
    /// Requests whose mappings are known by now.
    #[state(skip = "of no meaning between two events")]
    known: Vec<u32>,
    /// What the flash did, for the drive to react to.
    #[state(skip = "of no meaning between two events")]
    done: Vec<Done>,
    book: Book,
    /// When the drive could be written no more, and how many bytes it had taken in by then.
    #[state(varies)]
    end_of_life: Option<(Time, u64)>,
    outage: Outage,
    /// Its part of a whole drive, if it is a share of one.
    #[state(skip = "from the configuration")]
    pub(crate) share: Option<f64>,
}

impl<T: Translation> Ssd<T> {
    pub(crate) fn new(id: ComponentId, path: String, config: Config, ftl: T, host: Host) -> Ssd<T> {
        Ssd {
            id,
            path,
            flash: Backend::new(*ftl.geometry(), &config, T::CARRIES_BYTES),
            host,
            agenda: Agenda::new(),
            now: Time::ZERO,
            active: Slab::new(),
            parts: Slab::new(),
            writers: VecDeque::new(),
            lookups: Vec::new(),
            known: Vec::new(),
            done: Vec::new(),
            book: Book::default(),
            end_of_life: None,
            outage: Outage::default(),
            share: None,
            ftl,
            config,
        }
    }

    /// Bits of this drive go wrong as `errors` has it.
    pub(crate) fn with_errors(mut self, errors: Option<Box<crate::reliability::errors::Errors>>) -> Ssd<T> {
        self.flash.errors.0 = errors;
        self
    }
}
