//! Stages of a request within a device, which are more detailed than activities.

use crate::state::Value;

/// Stage of a request within a device that reports stages; see `docs/glossary.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
#[repr(u8)]
pub enum Stage {
    /// The device does not report stages.
    #[default]
    Untold,
    /// Waiting for a slot in the full submission queue of a queue pair.
    QueuePair,
    /// Creation of the command by the driver.
    Driver,
    /// Issue of a load or a store by the host CPU.
    LoadStore,
    /// Transfer of a load, or of a store with its data, over the link to the device.
    LinkDown,
    /// Transfer of the doorbell over the link.
    Doorbell,
    /// Read of the command from host memory by the device.
    CommandFetch,
    /// Access to host memory on behalf of the device.
    HostMemory,
    /// Processing of the command by the processor of the device.
    Controller,
    /// Request for the data of a write, and its transfer over the link.
    DmaIn,
    /// Waiting in the queue of the memory scheduler.
    Scheduler,
    /// Refresh of the rank.
    Refresh,
    /// Precharge of a bank with another open row.
    Precharge,
    /// Activation of the row.
    Activate,
    /// Time from the read or write command of the first burst to the data of this burst.
    Column,
    /// Transfer of data between controller and memory.
    DataBus,
    /// Closing of the row that was written.
    RowClose,
    /// Transfer of the data of a read over the link.
    DmaOut,
    /// Transfer of the data of a load, or of the response to a store, over the link to the host.
    LinkUp,
    /// Round trip of a load that is issued after the last store, to confirm that all stores have arrived.
    Fence,
    /// Transfer of the completion over the link.
    Completion,
    /// Coalescing and transfer of the interrupt.
    Interrupt,
    /// Processing of the completion by the host.
    Reap,
}

impl Stage {
    /// Name of the stage; `None` if the device does not report stages.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Stage::Untold => return None,
            Stage::QueuePair => "queue pair",
            Stage::Driver => "driver",
            Stage::LoadStore => "load or store",
            Stage::LinkDown => "link to device",
            Stage::Doorbell => "doorbell",
            Stage::CommandFetch => "command fetch",
            Stage::HostMemory => "host memory",
            Stage::Controller => "controller",
            Stage::DmaIn => "DMA in",
            Stage::Scheduler => "scheduler",
            Stage::Refresh => "refresh",
            Stage::Precharge => "precharge",
            Stage::Activate => "row activate",
            Stage::Column => "column",
            Stage::DataBus => "data bus",
            Stage::RowClose => "row close",
            Stage::DmaOut => "DMA out",
            Stage::LinkUp => "link to host",
            Stage::Fence => "fence",
            Stage::Completion => "completion",
            Stage::Interrupt => "interrupt",
            Stage::Reap => "reap",
        })
    }
}
