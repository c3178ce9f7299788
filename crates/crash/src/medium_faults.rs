//! Faults injected into the operations of a medium, and a store with such faults.

use crate::fault::{Fault, InjectedFault};
use nacre_kernel::{Random, Streams};
use nacre_media::store::Store;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Faults of one store.
#[derive(Clone, Debug)]
pub struct MediumFaults {
    fault: InjectedFault,
    random: Random,
    /// Number of programs of each page. Recorded only for bit rot, which depends on this number.
    programs: BTreeMap<u64, u64>,
    struck: u64,
}

/// Number of adjacent pages that form a stuck block.
const PAGES_STUCK: u64 = 4;

impl MediumFaults {
    /// Creates the faults of a store. No operation has been affected yet.
    pub fn new(fault: InjectedFault) -> MediumFaults {
        let random = Streams::new(fault.seed).stream("medium");
        MediumFaults { fault, random, programs: BTreeMap::new(), struck: 0 }
    }

    /// Number of affected operations.
    pub fn struck(&self) -> u64 {
        self.struck
    }

    /// Page that a program of `page` actually changes; `None` if it changes none.
    pub fn target(&mut self, page: u64) -> Option<u64> {
        if self.fault.fault == Fault::BitRot {
            *self.programs.entry(page).or_default() += 1;
        }
        if self.strikes(Fault::LostProgram, page) || self.strikes(Fault::StuckBlock, page) {
            return None;
        }
        Some(if self.strikes(Fault::MisdirectedProgram, page) { page ^ 1 } else { page })
    }

    /// Whether a program of `page` changes only the first half of the page.
    pub fn tears(&mut self, page: u64) -> bool {
        self.strikes(Fault::TornProgram, page)
    }

    /// Whether a read of `page` has a bit error.
    pub fn rots(&mut self, page: u64) -> bool {
        self.strikes(Fault::BitRot, page)
    }

    /// Whether `fault` affects an operation on `page`.
    fn strikes(&mut self, fault: Fault, page: u64) -> bool {
        if self.fault.fault != fault {
            return false;
        }
        let strikes = match fault {
            // The page alone determines the result, so that it never changes.
            Fault::StuckBlock => {
                let block = page / PAGES_STUCK;
                Streams::new(self.fault.seed ^ block).stream("stuck").below(self.fault.one_in) == 0
            }
            Fault::BitRot => {
                let programs = self.programs.get(&page).copied().unwrap_or(0);
                self.random.below(self.fault.one_in) < programs
            }
            _ => self.random.below(self.fault.one_in) == 0,
        };
        self.struck += u64::from(strikes);
        strikes
    }
}

/// Content of `page` in `store` after a torn program of `bytes`. A torn program changes only the first half
/// of the page.
pub(crate) fn torn(store: &impl Store, page: u64, bytes: &[u8]) -> Vec<u8> {
    let mut torn = vec![0; bytes.len()];
    Store::read(store, page, 0, &mut torn);
    let half = bytes.len() / 2;
    torn[..half].copy_from_slice(&bytes[..half]);
    torn
}

/// Faults shared by the stores of a device. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct SharedFaults(Arc<Mutex<Option<MediumFaults>>>);

impl SharedFaults {
    /// Sets or clears the fault that affects later operations.
    pub fn set(&self, fault: Option<InjectedFault>) {
        *self.faults() = fault.map(MediumFaults::new);
    }

    /// Number of operations that the fault has affected since it was set.
    pub fn struck(&self) -> u64 {
        self.faults().as_ref().map_or(0, MediumFaults::struck)
    }

    fn faults(&self) -> MutexGuard<'_, Option<MediumFaults>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A store that injects faults into its operations. Several stores may share the faults.
pub struct FaultyPages<S> {
    store: S,
    pages: u64,
    shared: SharedFaults,
}

impl<S> FaultyPages<S> {
    /// Creates a faulty store over `store`, which has `pages` pages.
    pub fn new(store: S, pages: u64, shared: SharedFaults) -> FaultyPages<S> {
        FaultyPages { store, pages, shared }
    }

    /// Page that a program of `page` actually changes; `None` if it changes none. A program is not
    /// misdirected past the last page.
    fn target(&self, page: u64) -> Option<u64> {
        let mut faults = self.shared.faults();
        let target = faults.as_mut().map_or(Some(page), |faults| faults.target(page))?;
        Some(if target < self.pages { target } else { page })
    }

    fn tears(&self, page: u64) -> bool {
        self.shared.faults().as_mut().is_some_and(|faults| faults.tears(page))
    }
}

impl<S: Store> Store for FaultyPages<S> {
    const CARRIES_BYTES: bool = true;

    fn page_bytes(&self) -> usize {
        Store::page_bytes(&self.store)
    }

    fn read(&self, page: u64, offset: usize, into: &mut [u8]) -> bool {
        let is_programmed = Store::read(&self.store, page, offset, into);
        if let Some(first) = into.first_mut()
            && self.shared.faults().as_mut().is_some_and(|faults| faults.rots(page))
        {
            *first ^= 1;
        }
        is_programmed
    }

    fn program(&mut self, page: u64, bytes: &[u8]) {
        let Some(target) = self.target(page) else { return };
        if self.tears(page) {
            let torn = torn(&self.store, target, bytes);
            Store::program(&mut self.store, target, &torn);
        } else {
            Store::program(&mut self.store, target, bytes);
        }
    }

    fn copy(&mut self, from: u64, to: u64) {
        if let Some(target) = self.target(to) {
            Store::copy(&mut self.store, from, target);
        }
    }

    fn erase(&mut self, first: u64, count: u64) {
        Store::erase(&mut self.store, first, count);
    }
}

impl<S: std::fmt::Debug> std::fmt::Debug for FaultyPages<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyPages")
            .field("store", &self.store)
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nacre_media::store::Memory;

    const PAGES: u64 = 255;

    /// Programs every page `times` times with the number of the page as data. Returns the contents of the
    /// pages and the number of injected faults.
    fn held(fault: Fault, times: u8) -> (Vec<[u8; 4]>, u64) {
        let shared = SharedFaults::default();
        let mut store = FaultyPages::new(Memory::new(4), PAGES, shared.clone());
        shared.set(fault.injected(3));
        for turn in 1..=times {
            (0..PAGES).for_each(|page| Store::program(&mut store, page, &[page as u8, 0, 0, turn]));
        }
        let mut found = vec![[0; 4]; PAGES as usize];
        for (page, into) in found.iter_mut().enumerate() {
            Store::read(&store, page as u64, 0, into);
        }
        (found, shared.struck())
    }

    #[test]
    fn operations_go_wrong_as_their_fault_says() {
        let whole = |page: u64| [page as u8, 0, 0, 1];
        let right =
            |found: &[[u8; 4]]| (0..PAGES).filter(|&page| found[page as usize] == whole(page)).count();
        let (found, struck) = held(Fault::LostProgram, 1);
        let lost = found.iter().filter(|page| **page == [0xFF; 4]).count();
        assert!(struck > 0 && lost as u64 == struck && lost + right(&found) == PAGES as usize);
        let (found, struck) = held(Fault::TornProgram, 1);
        let torn = (0..PAGES).filter(|&page| found[page as usize] == [page as u8, 0, 0xFF, 0xFF]).count();
        assert!(struck > 0 && torn as u64 == struck && torn + right(&found) == PAGES as usize);
        let (found, struck) = held(Fault::StuckBlock, 1);
        let stuck: Vec<u64> = (0..PAGES).filter(|&page| found[page as usize] == [0xFF; 4]).collect();
        assert!(struck > 0 && stuck.len() as u64 == struck);
        assert!(stuck.iter().all(|page| stuck.contains(&(page ^ 1)) || *page == PAGES - 1));
        let (found, struck) = held(Fault::MisdirectedProgram, 1);
        assert!(struck > 0 && right(&found) < PAGES as usize);
        assert_eq!(held(Fault::PowerLoss, 1), ((0..PAGES).map(whole).collect(), 0), "none is put in");
    }

    #[test]
    fn bits_of_pages_rot_that_were_programmed_often() {
        let rotten = |times| held(Fault::BitRot, times).1;
        assert_eq!(rotten(0), 0);
        // The rate is one in 2,000 per program. For 255 reads after 200 programs each, 25.5 errors are
        // expected, with a standard deviation of 5.
        assert!((5..=46).contains(&rotten(200)));
    }

    #[test]
    fn the_same_seed_strikes_the_same() {
        assert_eq!(held(Fault::LostProgram, 3), held(Fault::LostProgram, 3));
    }
}
