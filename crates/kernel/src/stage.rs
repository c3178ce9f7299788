//! Stages of a request within a device, finer than activities.

use crate::state::Value;

/// Stage of a request within a device that reports stages; see `docs/glossary.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
#[repr(u8)]
pub enum Stage {
    /// The device does not report stages.
    #[default]
    Untold,
    /// The request waits for a slot in the full submission queue of its queue pair.
    QueuePair,
    /// The driver builds the command.
    Driver,
    /// The host's CPU issues a load or a store.
    LoadStore,
    /// A load, or a store with its data, crosses the link to the device.
    LinkDown,
    /// The doorbell crosses the link.
    Doorbell,
    /// The device reads the command from the host's memory.
    CommandFetch,
    /// The host's memory is accessed for the device.
    HostMemory,
    /// The device's processor works on the command.
    Controller,
    /// The data of a write is requested and crosses the link.
    DmaIn,
    /// The access waits in the queue of the memory scheduler.
    Scheduler,
    /// The rank is refreshed.
    Refresh,
    /// Another row of the bank is closed.
    Precharge,
    /// The row is opened.
    Activate,
    /// Time from the command of the first burst to its data.
    Column,
    /// Data moves between controller and memory.
    DataBus,
    /// The row that was written is closed.
    RowClose,
    /// The data of a read crosses the link.
    DmaOut,
    /// The data of a load, or the answer to a store, crosses the link to the host.
    LinkUp,
    /// A load after the last store makes a round trip over the link, which confirms that all stores have
    /// arrived.
    Fence,
    /// The completion crosses the link.
    Completion,
    /// The interrupt is coalesced with others and crosses the link.
    Interrupt,
    /// The host processes the completion.
    Reap,
}

impl Stage {
    /// Its name, if the device reports it.
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
