//! LRU lists: circular lists of numbers.

use nacre_kernel::state::{State, Value};

/// Marks an absent link, which means that the item is in no list.
const NOWHERE: u32 = u32::MAX;

/// Lists of the items `0..count`, most recently used first. Each item is in at most one list.
#[derive(Debug, State)]
#[state(after = "Self::check_restored")]
pub(crate) struct Recency {
    /// Links of the items, followed by the links of the list heads.
    links: Vec<Links>,
    #[state(same)]
    things: usize,
}

#[derive(Clone, Copy, Debug, Value)]
struct Links {
    newer: u32,
    older: u32,
}

impl Recency {
    /// Creates `lists` empty lists for `things` items.
    pub(crate) fn new(things: usize, lists: usize) -> Recency {
        let nowhere = Links { newer: NOWHERE, older: NOWHERE };
        let mut links = vec![nowhere; things];
        links.extend((things..things + lists).map(|head| Links { newer: head as u32, older: head as u32 }));
        Recency { links, things }
    }

    fn head(&self, list: usize) -> u32 {
        (self.things + list) as u32
    }

    /// Whether `thing` is in a list.
    #[inline]
    pub(crate) fn holds(&self, thing: u32) -> bool {
        self.links[thing as usize].newer != NOWHERE
    }

    /// Inserts `thing`, which must be in no list, at the front of `list`.
    #[inline]
    pub(crate) fn insert(&mut self, list: usize, thing: u32) {
        debug_assert!(!self.holds(thing), "{thing} is in a list");
        let head = self.head(list);
        let second = self.links[head as usize].older;
        self.links[thing as usize] = Links { newer: head, older: second };
        self.links[head as usize].older = thing;
        self.links[second as usize].newer = thing;
    }

    /// Removes `thing` from its list.
    #[inline]
    pub(crate) fn remove(&mut self, thing: u32) {
        let Links { newer, older } = self.links[thing as usize];
        debug_assert!(newer != NOWHERE, "{thing} is in no list");
        self.links[newer as usize].older = older;
        self.links[older as usize].newer = newer;
        self.links[thing as usize] = Links { newer: NOWHERE, older: NOWHERE };
    }

    /// Moves `thing` to the front of `list`.
    #[inline]
    pub(crate) fn touch(&mut self, list: usize, thing: u32) {
        if self.links[self.head(list) as usize].older != thing {
            self.remove(thing);
            self.insert(list, thing);
        }
    }

    /// Puts `new`, which must be in no list, at the position of `old`, which is then in no list.
    pub(crate) fn replace(&mut self, old: u32, new: u32) {
        debug_assert!(self.holds(old) && !self.holds(new), "{old} leaves its position to {new}");
        let links = self.links[old as usize];
        self.links[new as usize] = links;
        self.links[links.newer as usize].older = new;
        self.links[links.older as usize].newer = new;
        self.links[old as usize] = Links { newer: NOWHERE, older: NOWHERE };
    }

    /// The least recently used item of `list`; `None` if the list is empty.
    #[inline]
    pub(crate) fn oldest(&self, list: usize) -> Option<u32> {
        let oldest = self.links[self.head(list) as usize].newer;
        ((oldest as usize) < self.things).then_some(oldest)
    }

    /// All items of `list`, least recently used first.
    pub(crate) fn oldest_first(&self, list: usize) -> impl Iterator<Item = u32> + '_ {
        let newer = |thing: u32| {
            let newer = self.links[thing as usize].newer;
            ((newer as usize) < self.things).then_some(newer)
        };
        std::iter::successors(self.oldest(list), move |&thing| newer(thing))
    }

    fn check_restored(&mut self) -> Result<(), String> {
        let count = self.links.len() as u32;
        let is_wrong = |links: &Links| {
            let is_known = |link: u32| link < count;
            is_known(links.newer) != is_known(links.older)
                || !is_known(links.newer) && (links.newer != NOWHERE || links.older != NOWHERE)
        };
        match self.links.iter().find(|links| is_wrong(links)) {
            None => Ok(()),
            Some(links) => Err(format!("{links:?} of {count}")),
        }
    }
}
