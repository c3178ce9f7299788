//! Planes that are filled and cleaned by themselves: which one takes a page, and pages of several that are programmed by
//! one command.

mod array;
mod die;
mod mapping;
mod schedule;
