//! The flash: channels, dies, planes, and registers.

pub(crate) mod backend;
pub(crate) mod channel;
pub(crate) mod command;
pub(crate) mod die;
pub(crate) mod prerequisites;
pub(crate) mod timing;
