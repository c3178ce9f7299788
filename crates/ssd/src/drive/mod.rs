//! The drive: host interface, translation layer, flash, and requests in progress.

pub(crate) mod active;
mod completing;
mod decoding;
mod device;
mod reading;
mod report;
mod writing;

use crate::config::Config;
use crate::counts::Counts;
use crate::errors::Errors;
use crate::flash::backend::{Backend, Done};
use crate::ftl::translation::Translation;
use crate::host::Host;
use crate::recovery::Outage;
use active::{Active, Part};
use nacre_kernel::event::{Agenda, Slab};
use nacre_kernel::state::{State, Value};
use nacre_kernel::{ComponentId, Time};
use std::collections::VecDeque;

/// Timed events of the controller.
#[derive(Clone, Copy, Debug, Value)]
enum Event {
    /// The drive has recovered. The event starts a request that arrived during recovery.
    Ready(u32),
    /// The page of a part is decoded.
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
    /// Current time.
    now: Time,
    active: Slab<Active>,
    parts: Slab<Part>,
    /// Queue of writes that wait for space in the buffer, and of trims that must stay in order with writes.
    #[state(varies)]
    writers: VecDeque<u32>,
    /// Requests that wait for mapping table pages, as pairs of a page number and a request number.
    #[state(varies)]
    lookups: Vec<(u32, u32)>,
    /// Requests whose mappings have become known.
    #[state(skip = "of no meaning between two events")]
    known: Vec<u32>,
    /// Work that the flash has completed and the drive has not handled yet.
    #[state(skip = "of no meaning between two events")]
    done: Vec<Done>,
    counts: Counts,
    /// Time when the drive became read-only, and the number of bytes written until then.
    #[state(varies)]
    end_of_life: Option<(Time, u64)>,
    outage: Outage,
    /// Fraction of a physical drive that the device models; `None` for a whole drive.
    #[state(skip = "from the configuration")]
    share: Option<f64>,
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
            counts: Counts::default(),
            end_of_life: None,
            outage: Outage::default(),
            share: None,
            ftl,
            config,
        }
    }

    /// Sets the bit error model (`None` disables bit errors), and the share of a physical drive.
    pub(crate) fn with(mut self, errors: Option<Box<Errors>>, share: Option<f64>) -> Ssd<T> {
        (self.flash.errors, self.share) = (errors, share);
        self
    }
}
