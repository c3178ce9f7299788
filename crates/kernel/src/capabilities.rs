//! What a device can do, and what it promises.

/// Features and guarantees of a device. For a stack, those of the whole stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it carries bytes: reads return what was written.
    pub carries_bytes: bool,
    /// From when on a write survives a power loss.
    pub persistence: Persistence,
    /// Atomic unit in bytes: after a power loss, an aligned unit is old or new, never mixed.
    pub atomic_unit: u32,
    /// Whether it has transactions.
    pub transactions: bool,
    /// Whether its state depends on what was written before, so that preconditioning changes what it does.
    pub preconditions: bool,
    /// Whether the address of a request changes anything but which bytes it reads or writes. Of a device that is
    /// known by its latencies alone it does not.
    pub uses_addresses: bool,
    /// Whether writes may continue, without time, until its medium is worn out (`Device::wear_out`): every write reaches
    /// the medium then, and what it is made for is known.
    pub wears_out_ahead: bool,
}

/// From when on a write survives a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Persistence {
    /// When a flush that was asked for after its acknowledgement is done, as long as the energy that is stored
    /// suffices; how much is lost is reported.
    OnFlushWithStoredEnergy,
    /// When a flush that was asked for after its acknowledgement is done; before that it may survive.
    OnFlush,
    /// From its acknowledgement, as long as the energy that is stored suffices; how much is lost is reported.
    WithStoredEnergy,
    /// From its acknowledgement.
    OnAcknowledgement,
}

impl Persistence {
    /// Whether a flush is needed before a write survives.
    pub fn needs_flush(self) -> bool {
        matches!(self, Persistence::OnFlush | Persistence::OnFlushWithStoredEnergy)
    }

    /// Whether stored energy decides how much survives.
    pub fn is_up_to_energy(self) -> bool {
        matches!(self, Persistence::WithStoredEnergy | Persistence::OnFlushWithStoredEnergy)
    }

    /// Guarantee for data that passes through both devices.
    pub fn and(self, other: Persistence) -> Persistence {
        let is_up_to_energy = self.is_up_to_energy() || other.is_up_to_energy();
        match self.min(other) {
            Persistence::OnFlush if is_up_to_energy => Persistence::OnFlushWithStoredEnergy,
            least => least,
        }
    }
}

impl Capabilities {
    /// Guarantee for data in this device or in `other`. Data and transactions require both; preconditioning,
    /// addresses, and endurance require one of them.
    pub fn and(self, other: Capabilities) -> Capabilities {
        Capabilities {
            carries_bytes: self.carries_bytes && other.carries_bytes,
            persistence: self.persistence.and(other.persistence),
            atomic_unit: self.atomic_unit.min(other.atomic_unit),
            transactions: self.transactions && other.transactions,
            preconditions: self.preconditions || other.preconditions,
            uses_addresses: self.uses_addresses || other.uses_addresses,
            wears_out_ahead: self.wears_out_ahead || other.wears_out_ahead,
        }
    }
}
