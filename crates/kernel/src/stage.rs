//! Stages of one request on its way through a device, finer than activities.

use crate::state::Value;

/// Stage of a request within a device that reports stages; see `docs/glossary.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Value)]
#[repr(u8)]
pub enum Stage {
    /// The device tells no stages.
    #[default]
    Untold,
    /// In the submission queue of its queue pair, which is full.
    QueuePair,
    /// The driver builds the command.
    Driver,
    /// The host's CPU issues a load or a store.
    LoadStore,
    /// A load or a store crosses the link to the device, with its data where it is a store.
    LinkDown,
    /// The doorbell crosses the link.
    Doorbell,
    /// The device reads the command from the host's memory.
    CommandFetch,
    /// The host's memory finds what the device reads.
    HostMemory,
    /// The device's processor works on the command.
    Controller,
    /// The data of a write is asked for and crosses the link.
    DmaIn,
    /// In the queue of the memory's scheduler.
    Scheduler,
    /// The rank is refreshed.
    Refresh,
    /// Another row of the bank is closed.
    Precharge,
    /// The row is opened.
    Activate,
    /// From the command of the first burst to its data.
    Column,
    /// Data moves between controller and memory.
    DataBus,
    /// The row that was written is closed.
    RowClose,
    /// The data of a read crosses the link.
    DmaOut,
    /// The data of a load, or the answer to a store, crosses the link to the host.
    LinkUp,
    /// A load behind the last store, which says that all of them have arrived, crosses the link there and back.
    Fence,
    /// The completion crosses the link.
    Completion,
    /// The interrupt is held back for others, and crosses the link.
    Interrupt,
    /// The host takes the completion.
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
