//! A list in order that is changed at its ends and where it was changed last.
//!
//! It lies in two parts that meet where something was last added between others: what is added there moves nothing else,
//! and what is looked at next lies side by side in memory.

use prefetch_index::prefetch_index;
use std::collections::VecDeque;

/// Entries that are asked for ahead of the one that comes first.
const AHEAD: usize = 2;

/// Entries in order.
#[derive(Clone, Debug)]
pub(super) struct Parted<T> {
    /// Those before the place where the parts meet.
    before: VecDeque<T>,
    behind: VecDeque<T>,
}

impl<T> Default for Parted<T> {
    fn default() -> Parted<T> {
        Parted { before: VecDeque::new(), behind: VecDeque::new() }
    }
}

impl<T> FromIterator<T> for Parted<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Parted<T> {
        Parted { before: VecDeque::new(), behind: entries.into_iter().collect() }
    }
}

impl<T: Copy> Parted<T> {
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.before.iter().chain(&self.behind)
    }

    pub(super) fn len(&self) -> usize {
        self.before.len() + self.behind.len()
    }

    #[inline]
    pub(super) fn last(&self) -> Option<&T> {
        self.behind.back().or(self.before.back())
    }

    /// The entry at `index`, from the first one on.
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        match index.checked_sub(self.before.len()) {
            Some(index) => self.behind.get_mut(index),
            None => self.before.get_mut(index),
        }
    }

    pub(super) fn push_first(&mut self, entry: T) {
        self.before.push_front(entry);
    }

    #[inline]
    pub(super) fn push_last(&mut self, entry: T) {
        self.behind.push_back(entry);
    }

    /// Takes the first one. Those behind it are asked for from memory: they come next.
    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<T> {
        let part = if self.before.is_empty() { &mut self.behind } else { &mut self.before };
        let first = part.pop_front();
        prefetch_index(part.as_slices().0, AHEAD);
        first
    }

    /// Takes away the first ones that are `over`.
    #[inline]
    pub(super) fn forget(&mut self, over: impl Fn(&T) -> bool) {
        while self.before.front().is_some_and(&over) {
            self.before.pop_front();
        }
        while self.before.is_empty() && self.behind.front().is_some_and(&over) {
            self.behind.pop_front();
        }
    }

    /// The parts meet behind the last one that `is_before`.
    #[inline]
    pub(super) fn part(&mut self, is_before: impl Fn(&T) -> bool) {
        while let Some(&entry) = self.before.back().filter(|entry| !is_before(entry)) {
            self.before.pop_back();
            self.behind.push_front(entry);
        }
        while let Some(&entry) = self.behind.front().filter(|entry| is_before(entry)) {
            self.behind.pop_front();
            self.before.push_back(entry);
        }
    }

    /// Takes the first one behind the place where the parts meet.
    #[inline]
    pub(super) fn take_next(&mut self) -> Option<T> {
        self.behind.pop_front()
    }

    /// Adds `entry` where the parts meet, behind that place.
    #[inline]
    pub(super) fn put_next(&mut self, entry: T) {
        self.behind.push_front(entry);
    }

    /// Adds `entry` where the parts meet, before that place.
    #[inline]
    pub(super) fn insert(&mut self, entry: T) {
        self.before.push_back(entry);
    }

    /// The parts meet before the first one behind that place which `is_it`; gives that.
    #[inline]
    pub(super) fn seek(&mut self, is_it: impl Fn(&T) -> bool) -> Option<&T> {
        let passed = self.behind.iter().position(is_it)?;
        self.before.extend(self.behind.drain(..passed));
        self.behind.front()
    }
}
