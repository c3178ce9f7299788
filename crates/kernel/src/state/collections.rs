//! State of lists, heaps, maps, and other collections.

use super::{State, StateError, StateReader, StateWriter, Value};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

/// Maximum number of elements for which memory is allocated in advance. More memory is allocated while
/// elements are read.
const RESERVED_MAX: usize = 1 << 16;

/// Restores a list of values whose length is fixed.
#[doc(hidden)]
pub fn restore_values<T: Value>(list: &mut [T], state: &mut StateReader<'_>) -> Result<(), StateError> {
    state.count_of(list.len())?;
    for value in list {
        *value = T::read(state)?;
    }
    Ok(())
}

/// Number of elements of a sparse list that are saved together, or skipped if all of them are zero. As 32-bit
/// numbers, these elements fill one memory page.
const RUN: usize = 1024;

/// Saves a list without its runs of zeros.
#[doc(hidden)]
pub fn save_sparse<T: Value + Default + PartialEq>(list: &[T], state: &mut StateWriter) {
    state.put_u64(list.len() as u64);
    for run in list.chunks(RUN) {
        let is_there = !is_zero(run);
        state.put_bool(is_there);
        if is_there {
            T::save_each(run, state);
        }
    }
}

/// Restores a list of fixed length that was saved without its runs of zeros. Memory that is zero and stays
/// zero is only read, so the operating system need not allocate it.
#[doc(hidden)]
pub fn restore_sparse<T: Value + Default + PartialEq + Clone>(
    list: &mut [T],
    state: &mut StateReader<'_>,
) -> Result<(), StateError> {
    state.count_of(list.len())?;
    restore_runs(list, state)
}

/// Like [`restore_sparse`], for a list whose length may differ from the saved length.
#[doc(hidden)]
pub fn restore_sparse_of_any_length<T: Value + Default + PartialEq + Clone>(
    list: &mut Vec<T>,
    state: &mut StateReader<'_>,
) -> Result<(), StateError> {
    let count = state.count_of_runs(RUN)?;
    if count != list.len() {
        *list = vec![T::default(); count];
    }
    restore_runs(list, state)
}

fn restore_runs<T: Value + Default + PartialEq + Clone>(
    list: &mut [T],
    state: &mut StateReader<'_>,
) -> Result<(), StateError> {
    for run in list.chunks_mut(RUN) {
        if state.bool(state.name())? {
            T::restore_each(run, state)?;
        } else if !is_zero(run) {
            run.fill(T::default());
        }
    }
    Ok(())
}

/// Whether all elements are zero, without a branch for each element.
fn is_zero<T: Default + PartialEq>(run: &[T]) -> bool {
    let zero = T::default();
    run.iter().fold(true, |all, one| all & (*one == zero))
}

/// Reads a list of `count` values.
pub(super) fn read_list<T: Value>(count: usize, state: &mut StateReader<'_>) -> Result<Vec<T>, StateError> {
    let mut list = Vec::with_capacity(count.min(RESERVED_MAX));
    for _ in 0..count {
        list.push(T::read(state)?);
    }
    Ok(list)
}

/// The length of the list is fixed by the configuration.
impl<T: State> State for Vec<T> {
    fn save(&self, state: &mut StateWriter) {
        self.as_slice().save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        self.as_mut_slice().restore(state)
    }
}

impl<T: Value> Value for Vec<T> {
    const BYTES_MIN: usize = 8;

    fn read(state: &mut StateReader<'_>) -> Result<Vec<T>, StateError> {
        let count = state.count(T::BYTES_MIN)?;
        T::read_list(count, state)
    }
}

impl<T: State> State for [T] {
    fn save(&self, state: &mut StateWriter) {
        state.put_u64(self.len() as u64);
        T::save_each(self, state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.count_of(self.len())?;
        T::restore_each(self, state)
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn save(&self, state: &mut StateWriter) {
        T::save_each(self, state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        T::restore_each(self, state)
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    const BYTES_MIN: usize = if N == 0 { 1 } else { N * T::BYTES_MIN };

    fn read(state: &mut StateReader<'_>) -> Result<[T; N], StateError> {
        let each = T::read_list(N, state)?;
        Ok(each.try_into().unwrap_or_else(|_| unreachable!("as many as were read")))
    }
}

impl<T: State + ?Sized> State for Box<T> {
    fn save(&self, state: &mut StateWriter) {
        (**self).save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        (**self).restore(state)
    }
}

impl<T: Value> Value for Box<[T]> {
    const BYTES_MIN: usize = 8;

    fn read(state: &mut StateReader<'_>) -> Result<Box<[T]>, StateError> {
        Vec::read(state).map(Vec::into_boxed_slice)
    }
}

impl<T: Value> Value for Box<T> {
    const BYTES_MIN: usize = T::BYTES_MIN;

    fn read(state: &mut StateReader<'_>) -> Result<Box<T>, StateError> {
        T::read(state).map(Box::new)
    }
}

/// The configuration determines whether the value exists.
impl<T: State> State for Option<T> {
    fn save(&self, state: &mut StateWriter) {
        state.put_bool(self.is_some());
        if let Some(value) = self {
            value.save(state);
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        state.same(&self.is_some())?;
        self.as_mut().map_or(Ok(()), |value| value.restore(state))
    }
}

impl<T: Value> Value for Option<T> {
    const BYTES_MIN: usize = 1;

    fn read(state: &mut StateReader<'_>) -> Result<Option<T>, StateError> {
        Ok(if bool::read(state)? { Some(T::read(state)?) } else { None })
    }
}

macro_rules! tuples {
    ($(($($part:ident $index:tt),+);)+) => {$(
        impl<$($part: State),+> State for ($($part,)+) {
            fn save(&self, state: &mut StateWriter) {
                $(self.$index.save(state);)+
            }

            fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
                $(self.$index.restore(state)?;)+
                Ok(())
            }
        }

        impl<$($part: Value),+> Value for ($($part,)+) {
            const BYTES_MIN: usize = 0 $(+ $part::BYTES_MIN)+;

            fn read(state: &mut StateReader<'_>) -> Result<Self, StateError> {
                Ok(($($part::read(state)?,)+))
            }
        }
    )+};
}

tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
}

/// Implements `State` for a collection of values: saves its length and its values in `order`.
macro_rules! collections {
    ($($collection:ty, [$($bounds:tt)+], $order:expr, $one:ty;)+) => {$(
        impl<$($bounds)+> State for $collection {
            fn save(&self, state: &mut StateWriter) {
                state.put_u64(self.len() as u64);
                let order: fn(&Self, &mut StateWriter) = $order;
                order(self, state);
            }

            fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
                *self = Value::read(state)?;
                Ok(())
            }
        }

        impl<$($bounds)+> Value for $collection {
            const BYTES_MIN: usize = 8;

            fn read(state: &mut StateReader<'_>) -> Result<Self, StateError> {
                let count = state.count(<$one>::BYTES_MIN)?;
                let each = (0..count).map(|_| <$one>::read(state));
                let all = each.collect::<Result<Self, StateError>>()?;
                if all.len() != count {
                    return Err(state.error(format!("{count} different {}", state.name()), "equal ones".into()));
                }
                Ok(all)
            }
        }
    )+};
}

collections! {
    VecDeque<T>, [T: Value], |each, state| each.iter().for_each(|one| one.save(state)), T;
    BTreeSet<T>, [T: Value + Ord], |each, state| each.iter().for_each(|one| one.save(state)), T;
    BTreeMap<K, V>, [K: Value + Ord, V: Value], |each, state| each.iter().for_each(|(key, value)| {
        key.save(state);
        value.save(state);
    }), (K, V);
    HashMap<K, V, S>, [K: Value + Ord + Hash, V: Value, S: BuildHasher + Default], |each, state| {
        let sorted: BTreeMap<&K, &V> = each.iter().collect();
        for (key, value) in sorted {
            key.save(state);
            value.save(state);
        }
    }, (K, V);
    HashSet<T, S>, [T: Value + Ord + Hash, S: BuildHasher + Default], |each, state| {
        let sorted: BTreeSet<&T> = each.iter().collect();
        sorted.into_iter().for_each(|one| one.save(state));
    }, T;
}

/// Elements are saved and restored in memory order, so that equal elements are later popped in the same
/// order.
impl<T: Value + Ord> State for BinaryHeap<T> {
    fn save(&self, state: &mut StateWriter) {
        self.as_slice().save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        *self = Value::read(state)?;
        Ok(())
    }
}

impl<T: Value + Ord> Value for BinaryHeap<T> {
    const BYTES_MIN: usize = 8;

    fn read(state: &mut StateReader<'_>) -> Result<BinaryHeap<T>, StateError> {
        // The conversion of a list that is already a heap moves no elements.
        Vec::read(state).map(BinaryHeap::from)
    }
}

impl<T: State> State for std::cmp::Reverse<T> {
    fn save(&self, state: &mut StateWriter) {
        self.0.save(state);
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<(), StateError> {
        self.0.restore(state)
    }
}

impl<T: Value> Value for std::cmp::Reverse<T> {
    const BYTES_MIN: usize = T::BYTES_MIN;

    fn read(state: &mut StateReader<'_>) -> Result<Self, StateError> {
        T::read(state).map(std::cmp::Reverse)
    }
}
