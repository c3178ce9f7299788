//! The cache of frames in discrete events.
//!
//! What is in the cache and what leaves is decided when a request has been looked up. A frame with a page that is on its way
//! into it, or that is being written, is *busy*: who wants that page waits at the frame, in the order of arrival, and the
//! page does not leave. A page that was fetched is at hand as soon as it arrives: reads need not wait until the memory has
//! it.
//!
//! | what | waits for |
//! |---|---|
//! | read of a page | the page, if it is on its way or being written |
//! | write of a page | the same, and until a page that was fetched is in the memory |
//! | fetch from the backing | write-backs and trims of its pages |
//! | page that comes into a frame | the dirty page that leaves it: until that is one of those on their way back |
//! | write-back | its page, read from the frame; one of the places of those on their way; earlier write-backs and trims of the page |
//! | trim of the backing | earlier write-backs and trims of its pages; pages of it that are busy, which leave then if they are clean |
//! | flush, if the memory is volatile | writes before it, then the write-backs of all dirty pages and earlier ones |
//! | page without a frame | a frame that is not busy |
//!
//! # Differences from the older model
//! - Pages become dirty when they are written, and those that are too many go back then.
//! - A page that is read again while it goes back comes from the backing when it is there. A busy page does not leave.
//! - A frame is written by one write at a time.
//! - Of pages on their way back any that is there makes room for the next one, not the one that was sent first.
//! - After a power loss, a page written in part is dirty in its frame; pages on their way back go there again when the backing
//!   is ready, and a request for one of them waits for that.
//! - A backing that guarantees writes only within its stored energy is flushed, and nothing more is waited for.

mod back;
mod busy;
mod cache;
mod device;
mod fetching;
mod operation;
mod power;
mod reads;
mod report;
#[cfg(test)]
mod tests;
mod waiting;
mod writes;

pub(crate) use cache::FrameCache;
