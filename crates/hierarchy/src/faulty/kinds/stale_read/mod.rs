//! Stale read: a read returns the data from before the last write.
//!
//! # Model
//! The fault stores the last two versions of each written 4 KiB block, for up to `remembered` blocks. If both
//! versions of a block are stored, a read returns the older version without an error. The data on the medium
//! is correct. If no block of a read has two stored versions, the fault does not affect the read. If a block
//! is partly written or trimmed, the fault discards its versions. A power loss discards all versions.
//!
//! # Not modeled
//! The fault cannot return versions that are older than the last two, or versions that were written before
//! the fault was added to the device.
//!
//! # Sources
//! Bairavasundaram et al., "An analysis of data corruption in the storage stack", FAST 2008.
//!
//! # Checks
//! After two writes to the same blocks, an affected read returns the data of the first write. The next
//! unaffected read returns the data of the second write. The affected blocks count as silently corrupted.

#[cfg(test)]
mod tests;

use super::{Built, Decision, DecisionPoint, Fault, FaultFamily};
use crate::faulty::when::When;
use nacre_config::{Configuration, Descriptor, Model, Reader};
use nacre_kernel::event::Payload;
use nacre_kernel::state::{State, Value};
use nacre_kernel::{Op, Request, Time};
use std::collections::{BTreeMap, VecDeque};

/// A read returns data from before the last write.
#[derive(Clone, Debug, Configuration)]
#[config(check = "check")]
pub struct Config {
    /// Number of blocks whose last two versions are stored. The oldest block is dropped first.
    #[config(default = 1024, min = 1, max = 65536, source = "assumed: 4 MiB of recent writes")]
    pub remembered: u32,
    /// Selects the affected requests and times.
    #[config(flatten)]
    pub when: When,
}

/// Operations that the fault can affect.
const READS: &[Op] = &[Op::Read];

/// Size of a block in bytes.
const BLOCK: u64 = 4096;

fn check(config: &Config, reader: &mut Reader<'_>) {
    config.when.check(reader, READS);
}

/// The component's descriptor and constructor.
pub const MODEL: Model<FaultFamily> = Model {
    descriptor: Descriptor::of::<Config>(
        "stale_read",
        "reads return the data before the last write",
        &["bairavasundaram-2008"],
        1,
        include_str!("mod.rs"),
    ),
    build: |slot, builder| {
        let config: Config = slot.config(builder.families());
        let fault =
            StaleRead { most: config.remembered as usize, blocks: BTreeMap::new(), order: VecDeque::new() };
        Ok(Built {
            when: config.when,
            touchable: READS,
            decision_point: DecisionPoint::OnArrival,
            fault: Box::new(fault),
        })
    },
};

#[derive(State)]
struct StaleRead {
    #[state(skip = "from the configuration")]
    most: usize,
    #[state(varies)]
    blocks: BTreeMap<u64, Versions>,
    /// Numbers of the remembered blocks, oldest first. May contain blocks that were removed.
    #[state(varies)]
    order: VecDeque<u64>,
}

/// The last two versions of a block.
#[derive(Clone, Debug, Default, Value)]
struct Versions {
    /// Version before the last write, or `None` if unknown. The payload is empty in a simulation without
    /// data.
    older: Option<Payload>,
    last: Payload,
}

impl StaleRead {
    /// Numbers of the blocks that a request touches, each with the offset of the block's first byte in the
    /// request. The offset is `None` if the block is only partly covered.
    fn blocks_of(request: &Request) -> impl Iterator<Item = (u64, Option<usize>)> {
        let (first, count) = request.blocks(BLOCK);
        let (begin, end) = (request.address, request.address + u64::from(request.bytes));
        (first..first + count).map(move |number| {
            let at = number * BLOCK;
            let is_whole = at >= begin && at + BLOCK <= end;
            (number, is_whole.then(|| (at - begin) as usize))
        })
    }

    fn remember(&mut self, number: u64, last: Payload) {
        match self.blocks.get_mut(&number) {
            Some(of) => of.older = Some(std::mem::replace(&mut of.last, last)),
            None => {
                while self.order.len() >= self.most {
                    let oldest = self.order.pop_front();
                    oldest.map(|oldest| self.blocks.remove(&oldest));
                }
                self.order.push_back(number);
                self.blocks.insert(number, Versions { older: None, last });
            }
        }
    }

    fn forget(&mut self, number: u64) {
        if self.blocks.remove(&number).is_some() {
            self.order.retain(|&of| of != number);
        }
    }
}

impl Fault for StaleRead {
    fn arrives(&mut self, _now: Time, _until: Time, _request: &Request) -> Decision {
        Decision::Stale
    }

    fn writes(&mut self, request: &Request, data: &Payload) {
        for (number, place) in StaleRead::blocks_of(request) {
            match place {
                Some(place) if request.op == Op::Write => {
                    let last = match data.is_none() {
                        true => Payload::NONE,
                        false => data.slice(place, place + BLOCK as usize),
                    };
                    self.remember(number, last);
                }
                _ => self.forget(number),
            }
        }
    }

    fn reads(&mut self, request: &Request, data: &mut Payload) -> u64 {
        let known = StaleRead::blocks_of(request)
            .filter_map(|(number, place)| place.zip(self.blocks.get(&number)?.older.as_ref()));
        let mut wrong = 0;
        let mut bytes = data.bytes().map(<[u8]>::to_vec);
        for (place, older) in known {
            wrong += BLOCK;
            if let (Some(bytes), Some(older)) = (&mut bytes, older.bytes()) {
                bytes[place..place + BLOCK as usize].copy_from_slice(older);
            }
        }
        if let Some(bytes) = bytes.filter(|_| wrong > 0) {
            *data = bytes.into();
        }
        wrong
    }

    fn power_failed(&mut self) {
        self.blocks.clear();
        self.order.clear();
    }
}
