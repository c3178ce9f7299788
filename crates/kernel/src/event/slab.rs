//! Requests in progress, indexed by number.

use crate::state::{State, StateError, StateReader, StateWriter, Value};

/// List of entries identified by number. The most recently freed number is reused first. A freed entry keeps
/// its memory.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
    /// Whether each number is in use.
    used: Vec<bool>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { entries: Vec::new(), free: Vec::new(), used: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Whether no entry is in use.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of entries in use.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

impl<T: Default> Slab<T> {
    /// Creates an empty slab.
    pub fn new() -> Slab<T> {
        Slab::default()
    }

    /// Allocates a number. Its entry has its previous content, or the default if the entry is new.
    #[inline]
    pub fn take(&mut self) -> (u32, &mut T) {
        let number = match self.free.pop() {
            Some(number) => number,
            None => self.grow(),
        };
        self.used[number as usize] = true;
        (number, &mut self.entries[number as usize])
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let number = u32::try_from(self.entries.len()).expect("fewer than 2^32 requests are in progress");
        self.entries.push(T::default());
        self.used.push(false);
        number
    }

    /// Frees the number. Its entry is unchanged until the number is reused.
    #[inline]
    pub fn give_back(&mut self, number: u32) {
        debug_assert!(self.used[number as usize], "{number} is given back twice");
        self.used[number as usize] = false;
        self.free.push(number);
    }

    /// Entries in use, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let all = self.entries.iter().zip(&self.used).enumerate();
        all.filter(|(_, (_, used))| **used).map(|(number, (entry, _))| (number as u32, entry))
    }

    /// Mutable references to the entries in use.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let all = self.entries.iter_mut().zip(&self.used).enumerate();
        all.filter(|(_, (_, used))| **used).map(|(number, (entry, _))| (number as u32, entry))
    }

    /// Frees all numbers.
    pub fn clear(&mut self) {
        self.used.fill(false);
        self.free = (0..self.entries.len() as u32).rev().collect();
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        debug_assert!(self.used[number as usize], "{number} is not in use");
        &self.entries[number as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut T {
        debug_assert!(self.used[number as usize], "{number} is not in use");
        &mut self.entries[number as usize]
    }
}

/// Free entries are saved as defaults. Their content does not matter, but the order of free numbers does.
impl<T: Value + Default> State for Slab<T> {
    fn save(&self, state: &mut StateWriter) {
        self.free.save(state);
        state.put_u64(self.entries.len() as u64);
        let spare = T::default();
        for (entry, used) in self.entries.iter().zip(&self.used) {
            if *used { entry.save(state) } else { spare.save(state) }
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Slab { free: Vec::read(state)?, entries: Vec::read(state)?, used: Vec::new() };
        self.used = vec![true; self.entries.len()];
        for &number in &self.free {
            match self.used.get_mut(number as usize) {
                Some(used) if *used => *used = false,
                _ => return Err(state.error("free numbers, each once".into(), number.to_string())),
            }
        }
        Ok(())
    }
}
