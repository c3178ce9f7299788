//! Features and durability guarantees of devices.

/// Features and guarantees of a device, or of a whole stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether the device stores data, so that reads return the data last written.
    pub carries_bytes: bool,
    /// Event after which a write is durable, i.e. survives a power loss.
    pub persistence: Persistence,
    /// Atomic unit in bytes. After a power loss, an aligned unit has either its old or its new content.
    pub atomic_unit: u32,
    /// Whether the device supports transactions.
    pub transactions: bool,
    /// Whether the behavior of the device depends on earlier writes, so that preconditioning matters.
    pub preconditions: bool,
    /// Whether addresses affect the timing or state of the device. They do not for a device that is modeled
    /// only by its latencies.
    pub uses_addresses: bool,
    /// Whether the device can be worn out without simulating time ([`Endurance`](crate::event::Endurance)).
    /// This requires that every write reaches the medium and that the endurance of the medium is known.
    pub wears_out_ahead: bool,
}

/// Event after which a write is durable, i.e. survives a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Persistence {
    /// A write is durable after the next flush completes, if the stored energy suffices. Otherwise, recovery
    /// reports the loss.
    OnFlushWithStoredEnergy,
    /// A write is durable after the next flush completes. Before that, the write may or may not survive.
    OnFlush,
    /// A write is durable after its acknowledgement, if the stored energy suffices. Otherwise, recovery
    /// reports the loss.
    WithStoredEnergy,
    /// A write is durable after its acknowledgement.
    OnAcknowledgement,
}

impl Persistence {
    /// Whether a write is guaranteed to survive a power loss only after a flush.
    pub fn needs_flush(self) -> bool {
        matches!(self, Persistence::OnFlush | Persistence::OnFlushWithStoredEnergy)
    }

    /// Whether stored energy limits the amount of data that survives.
    pub fn is_up_to_energy(self) -> bool {
        matches!(self, Persistence::WithStoredEnergy | Persistence::OnFlushWithStoredEnergy)
    }

    /// Returns the weaker of the two guarantees. It applies to data that passes through both devices.
    pub fn and(self, other: Persistence) -> Persistence {
        let is_up_to_energy = self.is_up_to_energy() || other.is_up_to_energy();
        match self.min(other) {
            Persistence::OnFlush if is_up_to_energy => Persistence::OnFlushWithStoredEnergy,
            least => least,
        }
    }
}

impl Capabilities {
    /// Combines the features and guarantees of this device and `other`. The combination stores data or
    /// supports transactions only if both devices do. Preconditioning, addresses, and wear-out without
    /// simulated time matter if they matter for at least one of them.
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
