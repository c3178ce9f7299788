//! The device below the layer of added faults in a served model.

use nacre_kernel::event::{Completions, Payload, RequestId};
use nacre_kernel::{Op, Request, Time};
use nacre_machine::faults::Below;
use nacre_memory::persistent_device::Given;
use nacre_memory::{NotTaken, PersistentDevice, Step};
use std::collections::BTreeMap;

/// A device with its image, below the layer of added faults.
pub(crate) struct Under {
    pub(crate) device: PersistentDevice,
    /// Number of each outstanding request in the fault layer, indexed by the identifier of the request in the
    /// device.
    numbers: BTreeMap<u32, u32>,
    /// Reason why the last rejected request was not performed.
    pub(crate) refused: Option<NotTaken>,
}

impl Under {
    pub(crate) fn new(device: PersistentDevice) -> Under {
        Under { device, numbers: BTreeMap::new(), refused: None }
    }

    /// Discards all outstanding requests after a power loss.
    pub(crate) fn forget(&mut self) {
        self.numbers.clear();
    }
}

impl Below for Under {
    fn submit(&mut self, now: Time, number: u32, request: &Request, data: Payload) -> bool {
        let (address, bytes) = (request.address, request.bytes);
        let step = match (request.op, data.bytes()) {
            (Op::Read, _) => Step::Read { address, bytes },
            (Op::Write, Some(bytes)) => Step::Write { address, bytes },
            (Op::Write, None) => Step::Zero { address, bytes },
            (Op::Trim, _) => Step::Trim { address, bytes },
            (Op::Flush, _) => Step::Flush,
        };
        let given = match step {
            Step::Read { .. } => Ok(Given::Request(self.device.give_read(now, address, bytes))),
            step => self.device.give(now, step),
        };
        match given {
            Ok(Given::Request(RequestId(id))) => {
                self.numbers.insert(id, number);
                true
            }
            Ok(Given::Done(_)) => unreachable!("what a client asks is a request"),
            Err(why) => {
                self.refused = Some(why);
                false
            }
        }
    }

    fn number_of(&self, id: RequestId) -> u32 {
        self.numbers[&id.0]
    }

    fn next_event(&self) -> Time {
        self.device.next_event()
    }

    fn run(&mut self, until: Time, completions: &mut Completions) {
        self.device.run(until, completions);
    }
}
