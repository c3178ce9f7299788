//! Features and durability guarantees of devices.

/// Features and guarantees of a device. For a stack, those of the whole stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it carries data: reads return the data last written.
    pub carries_bytes: bool,
    /// When a write becomes durable, i.e. survives a power loss.
    pub persistence: Persistence,
    /// Atomic unit in bytes: after a power loss, an aligned unit is old or new, never mixed.
    pub atomic_unit: u32,
    /// Whether it has transactions.
    pub transactions: bool,
    /// Whether its behavior depends on earlier writes, so that preconditioning matters.
    pub preconditions: bool,
    /// Whether addresses affect its timing or state. They do not for a device that is known only by its
    /// latencies.
    pub uses_addresses: bool,
    /// Whether it can be worn out without simulating time ([`Endurance`](crate::event::Endurance)): every
    /// write then reaches the medium, whose endurance is known.
    pub wears_out_ahead: bool,
}

/// When a write becomes durable, i.e. survives a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Persistence {
    /// When a flush after its acknowledgement completes, if the stored energy suffices. Recovery reports the
    /// loss otherwise.
    OnFlushWithStoredEnergy,
    /// When a flush after its acknowledgement completes; before that, it may survive.
    OnFlush,
    /// From its acknowledgement, if the stored energy suffices. Recovery reports the loss otherwise.
    WithStoredEnergy,
    /// From its acknowledgement.
    OnAcknowledgement,
}

impl Persistence {
    /// Whether a flush is needed before a write survives.
    pub fn needs_flush(self) -> bool {
        matches!(self, Persistence::OnFlush | Persistence::OnFlushWithStoredEnergy)
    }

    /// Whether stored energy limits what survives.
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
